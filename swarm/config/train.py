"""`TrainConfig`: everything one training run depends on, and nothing else.

The one contract between the researcher and the trainer. Importing it needs pydantic alone.
Unknown keys are errors. Two runs with equal `TrainConfig.digest()` on one machine fingerprint
sample the same tokens and reach the same weights.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from swarm.algorithms import DATA, PRESETS
from swarm.config import parts
from swarm.config.algorithm import AlgorithmSettings, merged, returns_before, returns_for
from swarm.config.base import EVERY, JsonValue, Settings, canonical_digest, refuse
from swarm.config.paths import leaves, put


class TrainConfig(Settings):
    """One training run."""

    model: parts.ModelSettings = parts.ModelSettings()
    policy: parts.PolicySettings = parts.PolicySettings()
    task: parts.TaskSettings = parts.TaskSettings()
    algorithm: AlgorithmSettings = AlgorithmSettings()
    sampling: parts.SamplingSettings = parts.SamplingSettings()
    batch: parts.BatchSettings = parts.BatchSettings()
    optim: parts.OptimSettings = parts.OptimSettings()
    data: parts.DataSettings = parts.DataSettings()
    warmup: parts.WarmupSettings = parts.WarmupSettings()
    evaluation: parts.EvalSettings = parts.EvalSettings()
    steps: parts.Steps = Field(
        default=60, ge=1, description="batches; each feeds `batch.updates` updates"
    )
    max_staleness: int = Field(default=0, ge=0, le=64)
    checkpoint_every: int = Field(default=20, ge=1)
    seed: int = Field(default=0, ge=0, lt=2**31)
    device: Literal["auto", "cpu", "cuda"] = "auto"

    @model_validator(mode="after")
    def _possible(self) -> Self:
        refuse(*_not_of_fp32(self))
        refuse(*_groups(self), *_pairs(self), *_staleness(self), *_demonstrations(self))
        return self

    @model_validator(mode="before")
    @classmethod
    def _fill_data_from_preset(cls, raw: Any) -> Any:
        """The algorithm's own `data` settings, where the config leaves them out."""
        if not isinstance(raw, Mapping):
            return raw
        algorithm, data = raw.get("algorithm", {}), raw.get("data", {})
        if isinstance(algorithm, AlgorithmSettings):
            name = algorithm.name
        else:
            name = str(algorithm.get("name")) if isinstance(algorithm, Mapping) else ""
        if name not in DATA or not isinstance(data, Mapping):
            return raw
        return {**raw, "data": {**DATA[name], **data}}

    def digest(self) -> str:
        """The sha256 of the canonical JSON of this config, without what only bounds waits."""
        return canonical_digest(self.model_dump(mode="json", exclude={"task": {"time_limit"}}))

    def with_values(
        self, values: Mapping[str, JsonValue], *, before_returns: bool = False
    ) -> "TrainConfig":
        """This config with dotted paths replaced, validated again. Setting `algorithm.name` fills
        the rest of `algorithm`, and what any preset sets under `data`, from that preset, except for
        the other paths in `values`. Setting `algorithm.baseline` alone takes `algorithm.returns`
        with it: the preset's, where that baseline can have them, or what was set in their place.
        Setting another kind of correction takes that kind's bounds. With `before_returns` the
        config is what it was for values stored before `algorithm.returns` was a setting."""
        raw = self.model_dump(mode="json", context=EVERY)
        correction = raw["algorithm"]["correction"]
        let_go(raw, values)
        if before_returns and "algorithm.name" not in values:
            raw["algorithm"]["correction"] = correction
        for path, value in values.items():
            put(raw, path, value)
        if before_returns and "algorithm.returns" not in values:
            _returns_as_before(raw["algorithm"])
        return TrainConfig.model_validate(raw)


def _returns_as_before(algorithm: dict[str, Any]) -> None:
    """Put in what `returns` was for these settings before it was one. What cannot be read is left
    to be refused."""
    preset = PRESETS.get(str(algorithm.get("name", "default")))
    if preset is not None:
        algorithm["returns"] = returns_before(merged(preset, algorithm))


def let_go(raw: dict[str, Any], values: Mapping[str, object]) -> None:
    """Take out of a config's tree, whole or in part, what only followed from settings that `values`
    replace: all of a preset's with its name, a correction's bounds with its kind, returns with the
    baseline that they were the returns of. What was set in their place stays."""
    algorithm = raw.get("algorithm")
    if "algorithm.name" in values:
        _forget_algorithm(raw)
    elif isinstance(algorithm, dict):
        preset: Mapping[str, Any] = PRESETS.get(str(algorithm.get("name", "default")), {})
        if "algorithm.baseline" in values:
            _let_go_of_returns(algorithm, preset, values["algorithm.baseline"])
        own, correction = preset.get("correction", {}), algorithm.get("correction")
        if "algorithm.correction.kind" in values and isinstance(correction, dict):
            kind = correction.get("kind", own.get("kind", "none"))
            if values["algorithm.correction.kind"] != kind:
                algorithm["correction"] = {}


def _let_go_of_returns(
    algorithm: dict[str, Any], preset: Mapping[str, Any], baseline: object
) -> None:
    """Returns that only followed from the baseline until now follow from the new one, so that
    earlier baselines leave no trace."""
    if "returns" in algorithm:
        own, before = preset.get("returns", "episode"), preset.get("baseline", "group")
        followed = returns_for(algorithm.get("baseline", before), own)
        given = own if algorithm["returns"] == followed else algorithm["returns"]
        algorithm["returns"] = returns_for(baseline, given)


def _forget_algorithm(raw: dict[str, Any]) -> None:
    raw["algorithm"] = {}
    for name in (name for fields in DATA.values() for name in fields):
        if isinstance(raw.get("data"), dict):
            raw["data"].pop(name, None)


#: The least and the largest magnitude of a normal fp32 number.
_FP32 = (2.0**-126, (2 - 2.0**-23) * 2.0**127)


def _groups(config: TrainConfig) -> Iterator[str]:
    if config.batch.group_size > 1:
        return
    algorithm, group_filter = config.algorithm, config.data.group_filter
    needing = {
        f"algorithm.baseline {algorithm.baseline!r}": algorithm.baseline
        in ("group", "leave_one_out"),
        f"algorithm.scale {algorithm.scale!r}": algorithm.scale in ("group_std", "group_mean"),
        f"algorithm.objective {algorithm.objective!r}": algorithm.objective == "preference",
        f"data.group_filter {group_filter!r}": group_filter != "none",
        f"data.order {config.data.order!r}": config.data.order == "by_signal",
    }
    for what in (what for what, needs in needing.items() if needs):
        yield f"{what} needs batch.group_size of 2 or more"


def _not_of_fp32(config: TrainConfig) -> Iterator[str]:
    for path, value in leaves(config.model_dump()):
        if isinstance(value, float) and value and not _FP32[0] <= abs(value) <= _FP32[1]:
            yield (
                f"{path} {value} cannot be computed with: fp32 holds magnitudes from "
                f"{_FP32[0]:.1e} to {_FP32[1]:.1e}, and 0"
            )


def _pairs(config: TrainConfig) -> Iterator[str]:
    if config.algorithm.objective == "preference" and config.data.group_filter == "none":
        yield (
            "data.group_filter 'none' keeps groups of equal rewards, in which algorithm.objective "
            "'preference' finds no pair: set it to 'mixed_rewards' or 'resample'"
        )


def _staleness(config: TrainConfig) -> Iterator[str]:
    algorithm = config.algorithm
    if not config.max_staleness or not algorithm.samples or algorithm.objective == "preference":
        return
    if algorithm.clip_high is None and algorithm.correction.kind == "none":
        yield (
            "max_staleness above 0 needs a bounded ratio: set algorithm.clip_low and clip_high, "
            "or algorithm.correction.kind"
        )
    elif algorithm.anchor == "batch_start" and algorithm.correction.kind == "none":
        yield (
            "max_staleness above 0 with algorithm.anchor 'batch_start' leaves the gap to the "
            "sampler uncorrected: set algorithm.correction.kind"
        )


def _demonstrations(config: TrainConfig) -> Iterator[str]:
    if config.algorithm.samples:
        return
    if config.max_staleness:
        yield "max_staleness above 0 needs rollouts: algorithm.objective 'likelihood' draws none"
    if config.data.order == "by_signal":
        yield "data.order 'by_signal' needs rollouts: algorithm.objective 'likelihood' draws none"
    if config.data.group_filter != "none":
        yield (
            f"data.group_filter {config.data.group_filter!r} needs rollouts: "
            "algorithm.objective 'likelihood' draws none"
        )
