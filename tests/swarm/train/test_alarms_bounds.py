"""A bound on the ratio to the sampler must be wider than what rounding alone spreads."""

import pytest

from swarm.config.train import TrainConfig
from swarm.disk.folder import METRICS, read_rows
from swarm.train.alarms import Alarm, alarms
from swarm.train.loop import train

GSPO = {"algorithm.name": "gspo", "algorithm.anchor": "sampler"}
MASK = {"algorithm.correction.kind": "sequence_mask"}


def raised(
    values: dict, token: float, sequence: float | None, *, later: float = 0.0
) -> list[Alarm]:
    """On rows whose first batch has these spreads, and whose second has them `later` higher."""
    rows = [{"step": 0, "metrics": {}}]
    for step, more in ((1, 0.0), (2, later)):
        seen = {"mismatch/log_ratio_rms": token + more}
        if sequence is not None:
            seen["mismatch/sequence_log_ratio_rms"] = sequence + more
        rows.append({"step": step, "metrics": seen})
    return alarms(rows, TrainConfig().with_values(values))


@pytest.mark.parametrize(
    ("values", "token", "sequence"),
    [
        ({"algorithm.clip_high": 0.01, "algorithm.clip_low": 0.2}, 0.02, None),
        ({"algorithm.clip_high": 0.2, "algorithm.clip_low": 0.01}, 0.02, None),
        (GSPO, 1e-3, 5e-4),
        (MASK, 1e-3, 0.02),
        (
            {"algorithm.correction.kind": "token_mask", "algorithm.correction.high": 1.01},
            0.02,
            None,
        ),
        ({**MASK, "algorithm.anchor": "batch_start"}, 1e-3, 0.02),
    ],
)
def test_a_bound_inside_the_spread_is_named_with_both_figures(
    values: dict, token: float, sequence: float | None
) -> None:
    (alarm,) = raised(values, token, sequence)
    assert (alarm.kind, alarm.step) == ("bound-below-mismatch", 1)
    assert alarm.value == (token if sequence is None else sequence)
    assert f"{alarm.value:.2g}" in alarm.cause
    assert "algorithm." in alarm.cause


@pytest.mark.parametrize(
    ("values", "token", "sequence"),
    [
        ({}, 0.05, None),
        (GSPO, 1e-3, 1e-4),
        ({"algorithm.name": "gspo"}, 0.1, 0.1),
        (MASK, 0.05, 1e-3),
        ({"algorithm.name": "cispo"}, 0.5, None),
        ({"algorithm.name": "dppo"}, 0.5, None),
        ({"algorithm.name": "rloo"}, 0.5, None),
    ],
)
def test_a_bound_outside_the_spread_is_left_alone(
    values: dict, token: float, sequence: float | None
) -> None:
    assert raised(values, token, sequence) == []


def test_only_the_first_batch_tells_rounding_from_learning() -> None:
    assert raised(GSPO, 1e-5, 1e-5, later=0.5) == []


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
