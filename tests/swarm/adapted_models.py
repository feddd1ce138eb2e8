"""A random base with adapters that differ enough for a swapped row to be seen."""

from torch import nn

from swarm.policy.lora import AdapterHost

RANKS = {"a": (4, "all"), "b": (2, "attention"), "c": (7, "mlp")}


def host_with_adapters(model: nn.Module) -> AdapterHost:
    """The slots `a`, `b`, `c`, of different ranks and on different layers."""
    host = AdapterHost.wrap(model)
    for number, (slot, (rank, targets)) in enumerate(RANKS.items()):
        for pair in host.create(slot, rank, 8.0, targets, seed=number).values():
            pair.b.data.normal_(0, 0.3)
    return host
