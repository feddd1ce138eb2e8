"""Curves of a run are read the same whether row by row or in a slow, obvious way."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarm.train.curves import WINDOW, Curves


def curves(*rows: dict[str, float], ended: bool = False) -> Curves:
    found = Curves()
    for step, metrics in enumerate(rows):
        found.add({"step": step, "metrics": metrics})
    found.ended = ended
    return found


@given(st.lists(st.floats(0, 100), min_size=1, max_size=12), st.floats(0, 100))
def test_windows_and_extremes(values: list[float], limit: float) -> None:
    found = curves(*({"a": value} for value in values))
    full = len(values) >= WINDOW
    last, first = values[-WINDOW:], values[:WINDOW]
    for read, window in ((found.last("a"), last), (found.first("a"), first)):
        assert read == pytest.approx(sum(window) / WINDOW) if full else math.isnan(read)
    assert (found.most("a"), found.mean("a")) == (
        max(values),
        pytest.approx(sum(values) / len(values)),
    )
    over = found.over("a", limit)
    assert over is None or over >= limit or over == pytest.approx(limit)
    padded = [*last, *[0.0] * (WINDOW - len(last))]
    assert (over is not None) == (math.fsum(padded) > WINDOW * limit)


def test_a_short_run_is_a_window_once_it_ended() -> None:
    assert math.isnan(curves({"a": 2.0}, {"a": 4.0}).last("a"))
    ended = curves({"a": 2.0}, {"a": 4.0}, ended=True)
    assert (ended.last("a"), ended.over("a", 2.5), ended.over("a", 3.0)) == (3.0, 3.0, None)
    assert math.isnan(curves({"b": 1.0}, ended=True).last("a"))


def test_what_a_row_lacks() -> None:
    found = curves({"a": 1.0}, {"b": math.nan}, {"a": 3.0})
    assert (found.values("a"), found.now("b"), found.step) == ([1.0, 3.0], None, 2)
    assert (found.most("b"), found.over("b", 0.0)) == (-math.inf, None)
    assert found.rewards() == (math.inf, -math.inf)


def test_rewards_of_runs_that_did_not_log_their_extremes() -> None:
    old = [{"reward/mean": mean} for mean in (-0.8, -0.3, -0.01, 0.0, 0.0, 0.0, 0.0)]
    assert curves(*old).rewards() == (-0.8, 0.0)
    assert curves(*old).solved()
    assert not curves(*old[:3]).solved()


def test_a_policy_that_was_right_from_the_start_has_solved_it() -> None:
    assert curves({"eval/acc": 0.95}, {"reward/mean": 0.1}).solved()
    assert not curves({"eval/acc": 0.2}, {"reward/mean": 0.1}).solved()


def test_an_accuracy_that_counts_nothing_does_not_judge() -> None:
    """Rewards of -1 and 0 never reach what counts as right."""
    seen = [{"eval/acc": 0.0, "reward/mean": mean, "reward/min": -1.0} for mean in (-0.7, -0.2)]
    assert not curves(*seen).solved()
    assert curves(*seen, *[{"reward/mean": 0.0, "eval/acc": 0.0}] * WINDOW).solved()
