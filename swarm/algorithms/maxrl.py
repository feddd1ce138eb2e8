"""MaxRL: maximum likelihood reinforcement learning (Tajwar et al. 2026, arXiv:2602.02710).

    A_i   = (r_i - m_g) / m_g,   0 for a group without success
    loss  = -(1/B) sum over the B sequences of (1/L) sum over its tokens of
            min(rho A, clip(rho, 0.8, 1.2) A)

With binary rewards and a probability p of success the gradient estimates, without bias, that of
log p cut after its first G - 1 terms, -sum over k < G of (1 - p)^k / k:

    E[1/G sum_i A_i grad log pi(y_i)] = (1 - (1 - p)^(G-1)) / p  grad p

so a prompt weighs up to 1/p, and the group size leads from REINFORCE with leave-one-out (G = 2,
where the weight is 1 and A_i = r_i - r_j) to maximum likelihood. r_i / m alone would give order G
(the paper's theorem: given one success there are 1 + Binomial(G - 1, p)). Subtracting 1 costs a
term, for it is left out with the groups without success, where the scores' mean is not 0 but
-(1 - p)^(G-1) grad p.

That holds for sums over whole sequences, hence the constant L = sampling.max_tokens. For rewards
that are not negative, binary ones above all. The paper trains on-policy, where the clip never
binds. No KL.
"""

from swarm.algorithms import default

PRESET = {**default.PRESET, "scale": "group_mean", "aggregation": "fixed_length"}
