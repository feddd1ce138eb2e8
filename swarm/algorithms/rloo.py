"""RLOO: REINFORCE leave-one-out (Ahmadian et al. 2024, arXiv:2402.14740).

    r'_i  = r_i - beta sum_t log pi(t)/ref(t)
    A_i   = r'_i - mean of r'_j over the other episodes j of the group
    loss  = -(1/B) sum over the B sequences of (1/L) sum over its tokens of rho A

No clipping. The KL is k1 inside the reward, where it is a correct estimator (as a loss k1 has no
gradient in expectation); beta = 0.05, TRL's default. The paper sums log-probabilities over a
sequence; the constant 1/L (L = sampling.max_tokens) only scales the step, which AdamW undoes.
"""

from swarm.algorithms import default

PRESET = {
    **default.PRESET,
    "baseline": "leave_one_out",
    "aggregation": "fixed_length",
    "clip_low": None,
    "clip_high": None,
    "kl_coef": 0.05,
    "kl_placement": "reward",
}
