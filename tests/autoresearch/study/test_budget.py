"""Wall seconds add up over processes, and end the study when they are used."""

from pathlib import Path

import pytest

from autoresearch.study import plan
from autoresearch.study.budget import SAVE_EVERY, Budget
from autoresearch.study.endings import BudgetExhausted
from autoresearch.study.home import Home
from autoresearch.study.ledger import Ledger

LIMITS = plan.Budget(seconds=100, trial_seconds=10)


class Clock:
    def __init__(self) -> None:
        self.now = 50.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def ledger(tmp_path: Path):
    ledger = Ledger.open(Home(tmp_path))
    with ledger.hold("s1"):
        ledger.create_study("s1", "topic", {})
        yield ledger


def test_spending_survives_a_restart(ledger: Ledger) -> None:
    clock = Clock()
    first = Budget(ledger, "s1", LIMITS, clock)
    clock.now += 60
    assert first.remaining() == 40
    first.check()
    clock.now += 1
    first.save()
    second = Budget(ledger, "s1", LIMITS, clock)
    assert second.spent() == first.spent() == 61
    clock.now += 38
    second.check()
    clock.now += 2
    with pytest.raises(BudgetExhausted, match="101 s spent of 100 s"):
        second.check()
    assert second.remaining() == 0
    assert ledger.spent("s1") == 101


def test_a_crash_loses_at_most_one_saving(ledger: Ledger) -> None:
    clock = Clock()
    budget = Budget(ledger, "s1", LIMITS, clock)
    for _ in range(300):
        clock.now += 0.25
        budget.check()
    assert 75 - SAVE_EVERY <= ledger.spent("s1") <= 75
