"""Dr. GRPO: GRPO done right (Liu et al. 2025, arXiv:2503.20783).

    A_i   = r_i - m_g
    loss  = -(1/B) sum over the B sequences of (1/L) sum over its tokens of
            min(rho A, clip(rho, 0.8, 1.2) A)

L is the generation budget `sampling.max_tokens`, a constant, so that neither a sequence's own
length nor its group's std enters. beta = 0.
"""

from swarm.algorithms import default

PRESET = {**default.PRESET, "aggregation": "fixed_length"}
