"""A policy: the parameters that train, their optimizer, their step, and frozen versions of them.

The parameter list is fixed at creation, so stepping one policy can never touch another's
parameters, whatever is active. `weights(version)` swaps a frozen version in for sampling or as
the reference; it is the one mechanism behind staleness and KL.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import torch
from torch import Tensor, nn

from swarm.config.parts import OptimSettings, PolicySettings
from swarm.errors import Refusal
from swarm.policy.lora import AdapterHost, Pair
from swarm.policy.masters import Masters
from swarm.policy.value_head import ValueHead


class Policy:
    """One trainable policy on a base model. `slot` names it there; full weights take the base
    for themselves.

    `parameters` maps names to the trained tensors, all fp32: adapter pairs, or all weights (of a
    bf16 model their masters, see `swarm.policy.masters`), then those of the value head, if there is
    one. `version` counts optimizer batches. `snapshots` holds the frozen
    versions that are still needed.
    """

    def __init__(
        self,
        host: AdapterHost,
        settings: PolicySettings,
        optim: OptimSettings,
        seed: int,
        slot: str = "policy",
    ) -> None:
        self.host = host
        self.settings = settings
        self.slot = slot
        self.version = 0
        self.snapshots: dict[int, list[Tensor]] = {}
        self.pairs: dict[str, Pair] = {}
        self._masters: Masters | None = None
        if settings.kind == "lora":
            self.pairs = host.create(slot, settings.rank, settings.alpha, settings.targets, seed)
            self.parameters = {
                f"{path}.{name}": parameter
                for path, pair in self.pairs.items()
                for name, parameter in (("lora_A", pair.a), ("lora_B", pair.b))
            }
        elif any(p.dtype != torch.float32 for p in host.model.parameters()):
            if not all(matrix.linear for matrix in host.matrices):
                raise Refusal(
                    "policy.kind",
                    "all weights of a mixture of experts are not trained in bfloat16",
                    "set model.dtype to float32, or policy.kind to lora",
                )
            self._masters = Masters(host.model)
            self.parameters = dict(self._masters.parameters)
        else:
            host.model.requires_grad_(True)
            self.parameters = dict(host.model.named_parameters())
        self.optimizer = make_optimizer(list(self.parameters.values()), optim)
        self.optimizer.register_step_post_hook(lambda *_: self.refresh())
        self.value_head: ValueHead | None = None

    def add_value_head(self, lr: float, seed: int) -> None:
        """Give the policy a fresh value head, as the optimizer's second group: stepped at `lr`,
        whatever the schedule, and clipped on its own."""
        embeddings = self.host.model.get_output_embeddings()  # type: ignore[operator]
        weight = embeddings.weight
        self.value_head = ValueHead(weight.shape[1], seed, weight.device)
        named = {f"value_head.{name}": p for name, p in self.value_head.named_parameters()}
        self.parameters |= named
        self.optimizer.add_param_group({"params": list(named.values()), "lr": lr})

    def begin_phase(self) -> None:
        """Start the optimizer anew: no moments, no step counts. What another loss left in them
        would scale and turn the first steps of this one."""
        self.optimizer.state.clear()

    def refresh(self) -> None:
        """Have the model compute with `parameters` as they are now, which matters where these are
        fp32 masters. Whoever writes to `parameters` without the optimizer calls it."""
        if self._masters is not None:
            self._masters.refresh()

    @property
    def adapter(self) -> str | None:
        """The slot to sample from; None where all weights are the policy's."""
        return self.slot if self.pairs else None

    def active(self) -> AbstractContextManager[None]:
        """A context in which all rows of a batch use this policy's current weights."""
        return self.host.routing.using(self.slot)

    def snapshot(self) -> None:
        """Freeze the current weights under the current version, unless they are frozen already."""
        if self.version not in self.snapshots:
            self.snapshots[self.version] = [p.detach().clone() for p in self.parameters.values()]

    def forget(self, *, keep: set[int]) -> None:
        """Drop the snapshots that are not in `keep`."""
        self.snapshots = {v: s for v, s in self.snapshots.items() if v in keep}

    @contextmanager
    def weights(self, version: int) -> Iterator[None]:
        """Within this context the parameters hold a frozen version. Raises KeyError. The current
        version needs no snapshot. No gradient may be taken inside."""
        if version == self.version and version not in self.snapshots:
            yield
            return
        live = [p.data for p in self.parameters.values()]
        try:
            for p, frozen in zip(self.parameters.values(), self.snapshots[version], strict=True):
                p.data = frozen
            self.refresh()
            yield
        finally:
            for p, data in zip(self.parameters.values(), live, strict=True):
                p.data = data
            self.refresh()


def make_optimizer(parameters: list[nn.Parameter], optim: OptimSettings) -> torch.optim.AdamW:
    """AdamW (Loshchilov & Hutter, arXiv:1711.05101) over exactly these parameters."""
    return torch.optim.AdamW(
        parameters,
        lr=optim.lr,
        betas=(optim.beta1, optim.beta2),
        eps=optim.eps,
        weight_decay=optim.weight_decay,
        fused=True,
    )
