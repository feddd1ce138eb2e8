"""Named algorithm presets: the settings each paper proposes, as plain data (no torch).

A preset fills the fields of `AlgorithmSettings` that a config leaves out. The learner never
sees a preset's name: it sees per-token weights and advantages and one set of loss settings.

Notation: r_i reward of episode i in its group g, m_g and s_g mean and std of the group,
rho_t = exp(log pi(t) - log mu(t)) against the *sampler's* log-probability.
"""

from collections.abc import Mapping
from types import MappingProxyType

Preset = Mapping[str, object]

#: House default. A = r - m_g; token mean over the optimizer batch; PPO clip 0.2; no KL.
DEFAULT: Preset = MappingProxyType(
    {
        "baseline": "group",
        "scale": "none",
        "aggregation": "token_mean",
        "clip_low": 0.2,
        "clip_high": 0.2,
        "kl_coef": 0.0,
    }
)

#: GRPO (Shao et al. 2024, arXiv:2402.03300, eq. 3): A = (r - m_g) / s_g; each sequence's token
#: mean, then the mean over sequences; clip 0.2; KL to the reference in the loss, beta = 0.04.
GRPO: Preset = MappingProxyType(
    {
        **DEFAULT,
        "scale": "group_std",
        "aggregation": "sequence_mean",
        "kl_coef": 0.04,
        "kl": "forward",
    }
)

#: Dr.GRPO (Liu et al. 2025, arXiv:2503.20783): A = r - m_g; the sum of a sequence's token losses
#: over a constant (the generation budget) instead of its own length; beta = 0.
DR_GRPO: Preset = MappingProxyType({**DEFAULT, "aggregation": "fixed_length"})

#: RLOO (Ahmadian et al. 2024, arXiv:2402.14740): A_i = r_i - mean of the *other* rewards of its
#: group, KL as k1 inside the reward, no clipping, sequence sums averaged over sequences.
RLOO: Preset = MappingProxyType(
    {
        **DEFAULT,
        "baseline": "leave_one_out",
        "aggregation": "fixed_length",
        "clip_low": None,
        "clip_high": None,
        "kl_coef": 0.05,
        "kl_placement": "reward",
    }
)

#: REINFORCE++ (Hu 2025, arXiv:2501.03262): reward minus beta * k1 per token, summed to the end
#: of the episode, then whitened over the *whole batch* (no group baseline); PPO clip 0.2.
REINFORCE_PP: Preset = MappingProxyType(
    {
        **DEFAULT,
        "baseline": "batch",
        "scale": "batch_std",
        "kl_coef": 0.01,
        "kl_placement": "reward",
    }
)

PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "default": DEFAULT,
        "grpo": GRPO,
        "dr_grpo": DR_GRPO,
        "rloo": RLOO,
        "reinforce_pp": REINFORCE_PP,
    }
)
