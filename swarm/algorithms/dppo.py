"""DPPO: divergence proximal policy optimization, binary TV (Qi et al. 2026, arXiv:2602.04879).

    A_i   = r_i - m_g
    keep  = not (A > 0 and pi - mu > 0.2), not (A <= 0 and pi - mu < -0.2)
    loss  = (1/N) sum over the N trained tokens of [ -keep rho A + 1e-3 (log rho)^2 ]

A token is dropped once its *probability*, not its ratio, has moved further than 0.2 in the
direction in which its advantage pushes: rare tokens may move by large ratios, frequent ones not
by large masses. The ratio is against the sampler, so one ratio serves staleness and numerical
mismatch. The squared log-ratio on all tokens, its coefficient and centred advantages are
prime-rl's recipe.
"""

from swarm.algorithms import default

PRESET = {
    **default.PRESET,
    "clip_low": None,
    "clip_high": None,
    "correction": {"kind": "dppo", "low": 0.2, "high": 0.2},
    "log_ratio_coef": 1e-3,
}
