"""Inverse-CDF draws from softmax(logits / T), one stored uniform a row."""

import torch
from torch import Tensor

#: Tokens whose probabilities are summed before any cumulative sum is taken.
BLOCK = 256

#: The largest fraction of a sum that stays below it when multiplied, in double precision.
BELOW_ONE = 1 - 2.0**-52


def draw(logits_BV: Tensor, temperatures_B: Tensor, uniforms_B: Tensor) -> tuple[Tensor, Tensor]:
    """Token ids [B] and their log-probabilities [B], fp32. `uniforms_B` is double, in [0, 1).

    The CDF is searched on two levels: over the sums of blocks of tokens, then within one block.
    Cumulative sums are double; a token of probability 0 is never drawn.
    """
    vocabulary = logits_BV.shape[1]
    scaled_BV = logits_BV.float() / temperatures_B[:, None]
    top_B1 = scaled_BV.amax(-1, keepdim=True)
    masses_BV = (scaled_BV - top_B1).exp_()
    width = min(BLOCK, vocabulary)
    if vocabulary % width:
        masses_BV = torch.nn.functional.pad(masses_BV, (0, -vocabulary % width))
    masses_BNW = masses_BV.view(len(masses_BV), -1, width)
    blocks_BN = masses_BNW.sum(-1).double()
    cdf_BN = blocks_BN.cumsum(-1)
    target_B1 = uniforms_B[:, None].clamp(max=BELOW_ONE) * cdf_BN[:, -1:]
    block_B1 = torch.searchsorted(cdf_BN, target_B1, right=True).clamp_(max=cdf_BN.shape[1] - 1)
    in_block_B1 = blocks_BN.gather(1, block_B1)
    fraction_B1 = (target_B1 - cdf_BN.gather(1, block_B1) + in_block_B1) / in_block_B1
    rows = torch.arange(len(logits_BV), device=logits_BV.device)
    inner_BW = masses_BNW[rows, block_B1[:, 0]].double().cumsum(-1)
    # The block's mass was summed in fp32, so the target is rescaled to the double sum.
    target_B1 = fraction_B1.clamp(0, BELOW_ONE) * inner_BW[:, -1:]
    offset_B1 = torch.searchsorted(inner_BW, target_B1, right=True).clamp_(max=width - 1)
    tokens_B1 = (block_B1 * width + offset_B1).clamp_(max=vocabulary - 1)
    log_total_B1 = cdf_BN[:, -1:].log()
    logprobs_B1 = (scaled_BV.gather(1, tokens_B1) - top_B1).double() - log_total_B1
    return tokens_B1[:, 0], logprobs_B1[:, 0].float()
