"""MaxRL: maximum likelihood reinforcement learning (Tajwar et al. 2026, arXiv:2602.02710).

    A_i   = (r_i - m_g) / m_g,   0 for a group without success
    loss  = -(1/B) sum over the B sequences of (1/L) sum over its tokens of
            min(rho A, clip(rho, 0.8, 1.2) A)

Dividing by the group's mean makes the gradient an unbiased estimate of that of the order-G
truncation of log p(success): a prompt weighs about 1/p, and the group size leads from REINFORCE
(G = 1) to maximum likelihood. That holds for sums over whole sequences, hence the constant L =
sampling.max_tokens. For rewards that are not negative, binary ones above all. The paper trains
on-policy, where the clip never binds. No KL.
"""

from swarm.algorithms import default

PRESET = {**default.PRESET, "scale": "group_mean", "aggregation": "fixed_length"}
