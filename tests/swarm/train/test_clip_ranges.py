"""A bound on the ratio to the sampler must be wider than what rounding alone spreads."""

from collections.abc import Callable

import pytest
from support.run_rows import run

from swarm.config.train import TrainConfig
from swarm.disk.folder import METRICS, read_rows
from swarm.train.alarms import alarms
from swarm.train.curves import Alarm
from swarm.train.loop import train

GSPO = {"algorithm.name": "gspo", "algorithm.anchor": "sampler"}
MASK = {"algorithm.correction.kind": "sequence_mask"}


def raised(values: dict, outside: float, *, later: float = 0.0) -> list[Alarm]:
    """On rows whose first batch has this share of tokens outside a bound, and whose second has it
    `later` higher."""
    rows = [{"step": 0, "metrics": {}}]
    for step, more in ((1, 0.0), (2, later)):
        seen = {"mismatch/log_ratio_rms": 0.013, "mismatch/sequence_log_ratio_rms": 0.0051}
        rows.append({"step": step, "metrics": seen | {"mismatch/outside_frac": outside + more}})
    return alarms(rows, TrainConfig().with_values(values))


@pytest.mark.parametrize(
    ("values", "spread"),
    [
        ({"algorithm.clip_high": 0.01, "algorithm.clip_low": 0.2}, 0.013),
        ({"algorithm.clip_high": 0.2, "algorithm.clip_low": 0.01}, 0.013),
        (GSPO, 0.0051),
        (MASK, 0.0051),
        ({"algorithm.correction.kind": "token_mask", "algorithm.correction.high": 1.01}, 0.013),
        ({**MASK, "algorithm.anchor": "batch_start"}, 0.0051),
    ],
)
def test_a_bound_that_holds_before_any_update_is_named(values: dict, spread: float) -> None:
    """However narrow the spread is as a whole: 40 of 960 tokens are enough."""
    (alarm,) = raised(values, 40 / 960)
    assert (alarm.kind, alarm.step, alarm.value) == ("bound-below-mismatch", 1, 40 / 960)
    assert "4.2%" in alarm.cause
    assert f"{spread:.2g}" in alarm.cause
    assert "algorithm." in alarm.cause


@pytest.mark.parametrize(
    "values", [{}, GSPO, MASK, {"algorithm.name": "cispo"}, {"algorithm.name": "gspo"}]
)
def test_a_stray_token_is_no_alarm(values: dict) -> None:
    assert raised(values, 0.005) == []


def test_only_the_first_batch_tells_rounding_from_learning() -> None:
    assert raised(GSPO, 1e-5, later=0.5) == []


def test_gspo_in_bf16_clips_nothing_before_an_update(tmp_path) -> None:
    """Against the sampler, its range would be narrower than the rounding: that is said at once."""
    rms = "mismatch/sequence_log_ratio_rms"
    for anchor in ("batch_start", "sampler"):
        values = {**GSPO, "algorithm.anchor": anchor, "model.dtype": "bfloat16", "seed": 3}
        values |= {"steps": 1, "batch.rollouts": 64, "evaluation.prompts": 2}
        config = TrainConfig().with_values(values)
        train(config, tmp_path / anchor)
        rows = list(read_rows(tmp_path / anchor / METRICS))
        seen, found = rows[1]["metrics"], [a.kind for a in alarms(rows, config)]
        assert seen[rms] > 3e-4
        assert (seen["policy/clip_frac"] > 0) == (anchor == "sampler")
        assert ("bound-below-mismatch" in found) == (anchor == "sampler")


def never_clipped(values: dict, **changes: Callable[[int], float]) -> list[str]:
    rows = run(policy__clip_frac=lambda s: 0.0, **changes)
    found = alarms(rows, TrainConfig().with_values(values), ended=True)
    return [alarm.kind for alarm in found]


TWICE = {"batch.minibatches": 2}


@pytest.mark.parametrize(
    "values",
    [
        {},  # with one update a batch every ratio is 1
        {**TWICE, "algorithm.name": "cispo"},  # a cap on weights is for the worst case
        {**TWICE, "algorithm.name": "rloo"},
        {"algorithm.name": "gspo", "max_staleness": 2, "algorithm.correction.kind": "tis"},
    ],
)
def test_a_range_that_has_nothing_to_hold_may_never_bind(values: dict) -> None:
    assert never_clipped(values) == []


@pytest.mark.parametrize(
    "values", [TWICE, {"max_staleness": 2}, {**TWICE, "algorithm.name": "gspo"}]
)
def test_a_range_that_could_bind_and_never_does_is_told_at_the_end(values: dict) -> None:
    assert never_clipped(values) == ["clip-never-binds"]
    rows = run(policy__clip_frac=lambda s: 0.0)
    assert alarms(rows, TrainConfig().with_values(values)) == []


def test_of_a_run_that_learned_nothing_the_range_is_not_the_cause() -> None:
    assert never_clipped(TWICE, optim__grad_norm=lambda s: 0.0) == []
