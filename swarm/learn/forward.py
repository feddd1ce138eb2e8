"""Log-probabilities of the trained tokens of token trees, each token of a tree computed once.

The trees of a batch run as one packed row: a token attends to its own path and position ids count
along it, so shared prefixes of any depth are shared work and lengths cost no padding. The LM head
runs on the states that predict a trained token and on no other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from swarm.errors import ModelUnavailable
from swarm.learn.attention import TreeAttention, along_trees
from swarm.learn.head import score
from swarm.learn.packing import pack
from swarm.models.architectures import logit_scale
from swarm.records import TokenTree


@dataclass(frozen=True)
class TrainedTokens:
    """Per trained token, in tree order: `logprobs` and `entropy`, both [M], fp32, and `hidden`
    [M, D], the states that predict the tokens."""

    logprobs: Tensor
    entropy: Tensor
    hidden: Tensor


def trained_logprobs(
    model: nn.Module, trees: Sequence[TokenTree], temperature: float, *, entropy_grad: bool = False
) -> TrainedTokens:
    """Log-probabilities at `temperature` of every masked-in token, concatenated tree by tree,
    node by node, token by token. Differentiable; `entropy` is, if `entropy_grad`.

    The caller has made the policy active for all rows. Raises ModelUnavailable for a model
    that has layers other than plain attention.
    """
    device = next(model.parameters()).device
    config: Any = model.config
    packed = pack(trees)
    attention = TreeAttention(packed, device)
    with along_trees(config):
        output = model.get_decoder()(  # type: ignore[operator]
            input_ids=torch.as_tensor(packed.tokens_N, device=device)[None],
            position_ids=torch.as_tensor(packed.positions_N, device=device)[None],
            use_cache=False,
            token_tree=attention,
        )
    if attention.calls != config.num_hidden_layers:
        raise ModelUnavailable(
            f"{type(model).__name__} has {config.num_hidden_layers} layers, {attention.calls} of "
            "them plain attention",
            "take a decoder of nothing else",
        )
    predictors = torch.as_tensor(packed.predictors_M, device=device)
    hidden_MD = output.last_hidden_state[0].index_select(0, predictors)
    if not len(hidden_MD):
        nothing = torch.zeros(0, device=device)
        return TrainedTokens(nothing, nothing, hidden_MD)
    targets = torch.as_tensor(packed.targets_M, device=device)
    head = model.get_output_embeddings()  # type: ignore[operator]
    logprobs, entropy = score(
        head, hidden_MD, targets, temperature / logit_scale(config), entropy_grad
    )
    return TrainedTokens(logprobs, entropy, hidden_MD)
