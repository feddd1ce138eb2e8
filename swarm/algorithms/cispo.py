"""CISPO: clipped importance-sampling weights (MiniMax-M1, Chen et al. 2025, arXiv:2506.13585).

    A_i   = (r_i - m_g) / s_g
    loss  = -(1/N) sum over the N trained tokens of sg(clip(rho, 0, 5)) A log pi(t)    (eq. 4)

The *weight* is clipped and not the update, so every token keeps a gradient. Conventions differ;
here as everywhere the bounds are 1 - clip_low and 1 + clip_high, so 1 and 4 mean the absolute
bounds 0 and 5. The paper sets no lower bound and tunes the upper one without naming its value;
[0, 5] is SkyRL's default. A cap below 1 (TRL falls back to 0.2) would turn the weights into a
constant. No KL.
"""

from swarm.algorithms import default

PRESET = {
    **default.PRESET,
    "objective": "truncated",
    "scale": "group_std",
    "clip_low": 1.0,
    "clip_high": 4.0,
}
