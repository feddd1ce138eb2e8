"""The contract between the researcher and the trainer."""

import json
import subprocess
import sys
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from swarm.algorithms import PRESETS
from swarm.config.algorithm import AlgorithmSettings
from swarm.config.base import EVERY
from swarm.config.paths import first_difference, flat, setting
from swarm.config.train import TrainConfig

DEFAULT = TrainConfig()


class TestRefusals:
    """What cannot be run is refused before anything starts, by name."""

    @pytest.mark.parametrize(
        "path", ["step", "optim.learning_rate", "algorithm.clip", "sampling.top_p", "batch.size"]
    )
    def test_an_unknown_key(self, path: str) -> None:
        with pytest.raises(ValidationError) as caught:
            DEFAULT.with_values({path: 1})
        (error,) = caught.value.errors()
        assert error["type"] == "extra_forbidden"
        assert ".".join(map(str, error["loc"])) == path

    @pytest.mark.parametrize(
        ("path", "value"),
        [
            ("optim.lr", 0.0),
            ("optim.lr", "fast"),
            ("optim.beta1", 1.0),
            ("sampling.temperature", 0.0),
            ("sampling.max_tokens", 0),
            ("policy.rank", 0),
            ("policy.kind", "qlora"),
            ("algorithm.clip_low", 1.5),
            ("algorithm.kl_coef", -0.1),
            ("steps", 0),
            ("max_staleness", -1),
            ("seed", 2**31),
        ],
    )
    def test_a_value_out_of_range(self, path: str, value: object) -> None:
        with pytest.raises(ValidationError) as caught:
            DEFAULT.with_values({path: value})
        assert {".".join(map(str, e["loc"])) for e in caught.value.errors()} == {path}

    @pytest.mark.parametrize(
        ("values", "named"),
        [
            ({"batch.group_size": 1}, "algorithm.baseline 'group' needs batch.group_size"),
            (
                {"batch.group_size": 1, "algorithm.baseline": "leave_one_out"},
                "algorithm.baseline 'leave_one_out' needs batch.group_size",
            ),
            (
                {
                    "batch.group_size": 1,
                    "algorithm.baseline": "leave_one_out",
                    "algorithm.scale": "group_std",
                },
                "algorithm.scale 'group_std' needs batch.group_size",
            ),
            (
                {"algorithm.name": "grpo", "algorithm.baseline": "none"},
                "algorithm.scale 'group_std' divides what is centred by the spread about its mean, "
                "and algorithm.baseline 'none' does not centre it: set algorithm.scale 'none', or "
                "algorithm.baseline 'group'",
            ),
            (
                {"algorithm.name": "reinforce_pp", "algorithm.baseline": "none"},
                "set algorithm.scale 'none', or algorithm.baseline 'batch'",
            ),
            (
                {
                    "batch.group_size": 1,
                    "algorithm.baseline": "none",
                    "data.group_filter": "mixed_rewards",
                },
                "data.group_filter 'mixed_rewards' needs batch.group_size",
            ),
            ({"batch.rollouts": 100}, "rollouts 100 is not a multiple of group_size 8"),
            ({"batch.minibatches": 3}, "16 prompts do not split into 3 minibatches"),
            ({"algorithm.name": "rloo", "max_staleness": 1}, "max_staleness above 0 needs"),
            ({"algorithm.clip_low": None}, "clip_low and clip_high"),
            (
                {"algorithm.name": "reinforce_pp", "algorithm.scale": "group_std"},
                "scale 'group_std' cannot be had with algorithm.returns 'token'",
            ),
            ({"algorithm.name": "gpro"}, "unknown algorithm 'gpro'; known: default, grpo"),
        ],
    )
    def test_an_impossible_combination(self, values: dict, named: str) -> None:
        with pytest.raises(ValidationError, match=named):
            DEFAULT.with_values(values)

    @pytest.mark.parametrize("path", ["optim.lr", "algorithm.entropy_coef", "policy.alpha"])
    @pytest.mark.parametrize("value", [float("inf"), float("nan")])
    def test_a_value_that_is_not_finite(self, path: str, value: float) -> None:
        with pytest.raises(ValidationError):
            DEFAULT.with_values({path: value})

    def test_a_value_below_a_value(self) -> None:
        with pytest.raises(KeyError):
            DEFAULT.with_values({"steps.more": 1})


class TestPresets:
    @pytest.mark.parametrize("name", PRESETS)
    def test_a_name_fills_what_is_left_out(self, name: str) -> None:
        settings = AlgorithmSettings(name=name).model_dump(context=EVERY)
        for key, value in PRESETS[name].items():
            found = settings[key]
            assert (
                (found.items() >= value.items()) if isinstance(value, Mapping) else found == value
            )

    def test_what_is_given_wins(self) -> None:
        settings = AlgorithmSettings(name="grpo", kl_coef=0.0)
        assert (settings.kl_coef, settings.scale) == (0.0, "group_std")

    def test_setting_the_name_by_path_resets_the_rest(self) -> None:
        """Except for the other paths that are set at the same time, in any order."""
        base = DEFAULT.with_values({"algorithm.clip_high": 0.28, "algorithm.entropy_coef": 0.1})
        for values in (
            {"algorithm.name": "grpo", "algorithm.kl_coef": 0.0},
            {"algorithm.kl_coef": 0.0, "algorithm.name": "grpo"},
        ):
            algorithm = base.with_values(values).algorithm
            assert algorithm == AlgorithmSettings(name="grpo", kl_coef=0.0)

    def test_other_paths_leave_the_algorithm_alone(self) -> None:
        base = DEFAULT.with_values({"algorithm.name": "rloo", "algorithm.kl_coef": 0.5})
        assert base.with_values({"optim.lr": 1.0}).algorithm == base.algorithm

    def test_papers_defaults(self) -> None:
        grpo, rloo = AlgorithmSettings(name="grpo"), AlgorithmSettings(name="rloo")
        assert (grpo.baseline, grpo.scale, grpo.kl_coef, grpo.kl) == (
            "group",
            "group_std",
            0.04,
            "forward",
        )
        assert (rloo.baseline, rloo.clip_high, rloo.kl_placement) == (
            "leave_one_out",
            None,
            "reward",
        )


class TestDigest:
    def test_it_survives_json_and_the_order_of_keys(self) -> None:
        raw = json.loads(DEFAULT.model_dump_json())
        backwards = {key: raw[key] for key in reversed(raw)}
        assert TrainConfig.model_validate(backwards).digest() == DEFAULT.digest()

    @given(seed=st.integers(0, 2**31 - 1), lr=st.floats(1e-8, 1, allow_subnormal=False))
    def test_it_tells_configs_apart(self, seed: int, lr: float) -> None:
        a = DEFAULT.with_values({"seed": seed, "optim.lr": lr})
        assert (a.digest() == DEFAULT.digest()) == (a == DEFAULT)
        assert a.digest() == TrainConfig.model_validate_json(a.model_dump_json()).digest()

    def test_a_preset_and_its_spelled_out_values_differ_by_name_alone(self) -> None:
        spelled = DEFAULT.with_values({f"algorithm.{k}": v for k, v in PRESETS["grpo"].items()})
        assert spelled.algorithm == AlgorithmSettings(name="grpo").model_copy(
            update={"name": "default"}
        )


def test_updates_and_prompts_are_derived() -> None:
    batch = DEFAULT.with_values(
        {"batch.rollouts": 64, "batch.group_size": 4, "batch.epochs": 3, "batch.minibatches": 2}
    ).batch
    assert (batch.prompts, batch.updates) == (16, 6)


def test_configs_are_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        DEFAULT.steps = 5


@pytest.mark.parametrize("module", ["swarm.config.train", "swarm.tasks", "swarm.disk.folder"])
def test_the_light_modules_import_nothing_heavy(module: str) -> None:
    """The planner reads them before a user sees anything."""
    program = (
        f"import sys, {module}; "
        "print(sorted({'torch', 'transformers', 'peft', 'ray', 'mlflow'} & set(sys.modules)))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert found.stdout.strip() == "[]"


class TestSettingsThatCameLater:
    """What was registered before them keeps its digest, and its trials their ids."""

    def test_they_are_left_out_while_they_say_nothing(self) -> None:
        plain, started = TrainConfig(), TrainConfig().with_values({"policy.start": "/a"})
        assert "start" not in plain.model_dump(mode="json")["policy"]
        assert started.model_dump(mode="json")["policy"]["start"] == "/a"
        assert plain.digest() == TrainConfig().with_values({"policy.start": ""}).digest()
        assert plain.digest() != started.digest()
        assert TrainConfig.model_validate(started.model_dump(mode="json")) == started

    def test_they_are_settings_like_any_other(self) -> None:
        assert "policy.start" in flat(TrainConfig())
        assert setting(TrainConfig(), "policy.start") == ""
        assert (
            first_difference(TrainConfig(), TrainConfig().with_values({"policy.start": "/a"}))
            == "policy.start"
        )
