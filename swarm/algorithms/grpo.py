"""GRPO: group relative policy optimization (Shao et al. 2024, DeepSeekMath, arXiv:2402.03300).

    A_i   = (r_i - m_g) / s_g
    loss  = -mean over sequences of mean over its tokens of
            [ min(rho A, clip(rho, 0.8, 1.2) A) - beta k3 ]          (eq. 3, 4)
    k3    = ref/pi - log(ref/pi) - 1

beta = 0.04. On-policy, the gradient of k3 as a loss is that of the *forward* KL(ref || pi), so
that is what the preset names. The paper gives no clip range; 0.2 is PPO's. s_g is the sample std.
"""

from swarm.algorithms import default

PRESET = {
    **default.PRESET,
    "scale": "group_std",
    "aggregation": "sequence_mean",
    "kl_coef": 0.04,
    "kl": "forward",
}
