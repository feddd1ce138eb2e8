"""A value head: V of the state in which each trained token is sampled."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional


class ValueHead(nn.Module):
    """hidden -> tanh(hidden) -> 1, fp32, on the hidden state that predicts a token. It reads that
    state and sends no gradient into it: the policy is trained by its own loss alone, whatever the
    head learns. The last layer starts at zero, so V does."""

    def __init__(self, width: int, seed: int, device: torch.device) -> None:
        super().__init__()
        rng = torch.Generator().manual_seed(seed)
        bound = 1 / math.sqrt(width)
        inner = torch.empty(width, width).uniform_(-bound, bound, generator=rng)
        self.inner = nn.Parameter(inner.to(device))
        self.inner_bias = nn.Parameter(torch.zeros(width, device=device))
        self.outer = nn.Parameter(torch.zeros(1, width, device=device))
        self.outer_bias = nn.Parameter(torch.zeros(1, device=device))

    def forward(self, hidden_MD: Tensor) -> Tensor:
        """[M] values of [M, D] hidden states."""
        states_MD = hidden_MD.detach().float()
        inner_MD = torch.tanh(functional.linear(states_MD, self.inner, self.inner_bias))
        return functional.linear(inner_MD, self.outer, self.outer_bias).squeeze(1)
