"""A base model is proven when it is loaded: learner and engine against plain transformers on one
short and one long row. What is not equal is refused before anything is written."""

from collections.abc import Sequence

import numpy as np
import torch

from swarm.config.parts import ModelSettings
from swarm.engine.torch_engine import TorchEngine
from swarm.errors import ModelUnavailable
from swarm.learn.forward import trained_logprobs
from swarm.models.architectures import original_length, window
from swarm.policy.base_model import Base, load_base
from swarm.records import (
    Completion,
    FloatArray,
    Node,
    SampleRequest,
    TokenTree,
    action_node,
    context_node,
)

#: Tokens of the short row, and of the answers that the engine adds to each row, one a seed.
SHORT, ANSWER, SEEDS = 6, 4, (1, 2)

#: The long row is at least this long, and beyond a window or an original rope length while the row
#: times the weights stays within `WORK`: about a second on one core, three passes in all.
LONG, WORK = 40, 2e9

#: The largest mean gap in log-probability. In fp32 the gaps of what is right are below 1e-5, in
#: bf16 about 0.02 of a tiny model and 0.06 of a large one.
BOUNDS = {torch.float32: 1e-3, torch.bfloat16: 0.2}


def load_proven(settings: ModelSettings, device: str) -> Base:
    """`load_base`, and proof that what is trained and sampled is this model. Raises its refusals,
    and ModelUnavailable naming what differs."""
    base = load_base(settings, device)
    try:
        prove(settings.ref, base)
    except torch.OutOfMemoryError:
        raise
    except RuntimeError as error:  # a kernel of torch that does not take the model's sizes
        why = str(error).partition("\n")[0]
        next_step = "take another model, dtype or device"
        raise ModelUnavailable(f"{settings.ref!r} cannot be run here ({why})", next_step) from error
    return base


@torch.no_grad()
def prove(ref: str, base: Base) -> None:
    """Raise ModelUnavailable where learner or engine differ from the model's own forward pass, or
    where that gives no numbers. Draws no random number from a shared generator."""
    rows = [_row(base, SHORT), _row(base, _long(base))]
    requests = [SampleRequest(row, SEEDS, ANSWER) for row in rows]
    sampled = TorchEngine(base.host, frozenset()).sample(requests)
    trees = [
        TokenTree(
            (context_node(row[:1]), action_node(row[1:], 0), *(_leaf(c) for c in completions))
        )
        for row, completions in zip(rows, sampled, strict=True)
    ]
    learned = trained_logprobs(base.host.model, trees, 1.0).logprobs.float().cpu().numpy()
    for row, completions in zip(rows, sampled, strict=True):
        truth_ST = _plain(base, [(*row, *completion.tokens) for completion in completions])
        if not np.isfinite(truth_ST).all():
            raise ModelUnavailable(
                f"{ref!r} gives log-probabilities that are not finite",
                "its weights may be damaged: copy its folder anew, or take another dtype",
            )
        tokens, before = truth_ST.shape[1] + 1, len(row) - 1
        answers = truth_ST[:, before:].ravel()
        own, learned = np.split(learned, [before + len(answers)])
        _compare(
            ref, base, "learner", tokens, own - np.concatenate([truth_ST[0, :before], answers])
        )
        drawn = np.concatenate([completion.logprobs for completion in completions])
        _compare(ref, base, "engine", tokens, drawn - answers)


def _leaf(completion: Completion) -> Node:
    return action_node(completion.tokens, 1)


def _compare(ref: str, base: Base, what: str, tokens: int, gaps: FloatArray) -> None:
    bound, gap = BOUNDS[_dtype(base)], float(np.abs(gaps).mean())
    if not gap <= bound:
        raise ModelUnavailable(
            f"{ref!r} ({type(base.host.model).__name__}) is not computed exactly: on a row of "
            f"{tokens} tokens the {what}'s log-probabilities are {gap:.2g} off those of plain "
            f"transformers (bound {bound:g})",
            "take another model, and report this one",
        )


def _plain(base: Base, rows: Sequence[Sequence[int]]) -> FloatArray:
    """[S, T - 1]: what the model's own forward pass says of each token but the first."""
    ids_ST = torch.tensor(rows, device=base.device)
    logits = base.host.model(input_ids=ids_ST, use_cache=False).logits[:, :-1].float()
    said = logits.log_softmax(-1).gather(2, ids_ST[:, 1:, None])[:, :, 0]
    found: FloatArray = said.cpu().numpy()
    return found


def _row(base: Base, length: int) -> tuple[int, ...]:
    """Tokens of all the vocabulary, the same for every run."""
    vocabulary = base.host.model.get_output_embeddings().weight.shape[0]  # type: ignore[operator]
    return tuple((np.arange(length) * 7919 + 13) % vocabulary)


def _long(base: Base) -> int:
    """How long the long row is, without its answer."""
    config = base.host.model.config.get_text_config()  # type: ignore[operator, union-attr]
    weights = sum(parameter.numel() for parameter in base.host.model.parameters())
    beyond = max(window(config) or 0, original_length(config) or 0) + 2 * ANSWER
    affordable = int(WORK / weights)
    length = max(LONG, beyond) if beyond <= affordable else LONG
    return int(max(1, min(length, base.limit.tokens - ANSWER)))


def _dtype(base: Base) -> torch.dtype:
    return next(base.host.model.parameters()).dtype
