"""DPO: direct preference optimization (Rafailov et al. 2023, arXiv:2305.18290), on-line.

    margin = beta [ sum_t log pi/ref of the chosen - sum_t log pi/ref of the rejected answer ]
    loss   = -mean over pairs of log sigmoid(margin)                                  (eq. 7)

beta = 0.1. A group's pair is its best and its worst episode under the reward (the first of
equals); a group whose rewards are all equal has none and is dropped. Pairs are drawn from the
policy as it is (Guo et al. 2024, arXiv:2402.04792), the reference stays the policy before the
first update. Sums run over whole sequences and are taken in fp64: in fp32 a sum over thousands of
tokens can lose the sign.
"""

PRESET = {
    "objective": "preference",
    "baseline": "none",
    "scale": "none",
    "clip_low": None,
    "clip_high": None,
    "kl_coef": 0.0,
    "beta": 0.1,
}
DATA = {"group_filter": "mixed_rewards"}
