"""DAPO: decoupled clip and dynamic sampling (Yu et al. 2025, arXiv:2503.14476).

    r'_i  = r_i + overlong(|y_i|)
    A_i   = (r'_i - m_g) / s_g
    loss  = -(1/N) sum over the N trained tokens of min(rho A, clip(rho, 0.8, 1.28) A)  (eq. 8)

    overlong(n) = 0                         for n <= L - b
                  -(n - (L - b)) / b        up to L = sampling.max_tokens             (eq. 13)

Clip-higher (0.2 below, 0.28 above), token mean, no KL. Groups whose rewards are all equal are
replaced by groups of other prompts until the batch is full (dynamic sampling; the rewards
compared are the task's, before the overlong term). The paper's b is 4096 of 20480 tokens, so b =
0.2 L, and its penalty's factor is 1.
"""

from swarm.algorithms import default

PRESET = {
    **default.PRESET,
    "scale": "group_std",
    "clip_high": 0.28,
    "overlong_buffer": 0.2,
    "overlong_factor": 1.0,
}
DATA = {"group_filter": "resample"}
