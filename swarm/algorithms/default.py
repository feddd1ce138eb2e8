"""The house default: GRPO without its two biases, anchored on the sampler.

    A_i   = r_i - m_g
    loss  = -(1/N) sum over the N trained tokens of min(rho A, clip(rho, 0.8, 1.2) A)

No division by the group's std (it favours groups that are nearly solved or nearly hopeless) and
no mean inside each sequence (it favours short right and long wrong answers): Liu et al. 2025,
arXiv:2503.20783. Token mean over the whole optimizer batch as in DAPO, arXiv:2503.14476. Clip
range of PPO, arXiv:1707.06347. No KL term.
"""

PRESET = {
    "baseline": "group",
    "scale": "none",
    "returns": "episode",
    "aggregation": "token_mean",
    "clip_low": 0.2,
    "clip_high": 0.2,
    "kl_coef": 0.0,
}
