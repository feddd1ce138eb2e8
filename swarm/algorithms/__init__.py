"""Named algorithms: each file holds the settings that one paper proposes, as plain data (no torch).

A preset fills the fields of `AlgorithmSettings` that a config leaves out, and where it names a
`DATA` part, those of `DataSettings`. The learner never sees a preset's name: it sees per-token
weights and advantages and one set of loss settings. `CONTRIBUTING.md` adds one from end to end.

Notation of all docstrings: r_i reward of episode i in its group g, m_g and s_g mean and sample std
of the group; pi the policy, mu the sampler, ref the reference; rho_t = pi(t) / mu(t), the ratio
against the *sampler's* log-probability; pi_old the policy at the batch's start; sg = stop-gradient.
"""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType

NAMES = (
    "default",
    "grpo",
    "dr_grpo",
    "dapo",
    "gspo",
    "cispo",
    "dppo",
    "rloo",
    "reinforce_pp",
    "ppo",
    "maxrl",
    "sft",
    "dpo",
)


def _frozen(values: Mapping[str, object]) -> Mapping[str, object]:
    """The values, parts included, as what nobody can change."""
    return MappingProxyType(
        {key: _frozen(v) if isinstance(v, Mapping) else v for key, v in values.items()}
    )


_MODULES = {name: import_module(f"swarm.algorithms.{name}") for name in NAMES}

PRESETS: Mapping[str, Mapping[str, object]] = MappingProxyType(
    {name: _frozen(module.PRESET) for name, module in _MODULES.items()}
)

#: What a preset sets under `data`, for those that do.
DATA: Mapping[str, Mapping[str, object]] = MappingProxyType(
    {name: _frozen(module.DATA) for name, module in _MODULES.items() if hasattr(module, "DATA")}
)
