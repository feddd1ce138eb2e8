"""A study that this process holds, without the machines that real trials need."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from autoresearch.execute.observer import Observer
from autoresearch.execute.stop import stop_requests
from autoresearch.run.context import StudyContext
from autoresearch.run.study import new_study
from autoresearch.study.budget import Budget
from autoresearch.study.home import Home
from autoresearch.study.ledger import Ledger
from autoresearch.study.options import StartOptions
from autoresearch.study.plan import Plan
from support.plans import TOPIC

#: Stands for the cluster and for MLflow, which only real trials use.
NOTHING: Any = None


def entered(home: Home, plan: Plan, **options: Any) -> str:
    """Enter a study with this draft into the ledger of `home`."""
    chosen = {"topic": TOPIC, "profile": plan.profile, **options}
    return new_study(home, plan, StartOptions.model_validate(chosen))


@contextmanager
def holding_study(
    home: Home, study: str, observer: Observer | None = None
) -> Iterator[StudyContext]:
    """Hold a study of `home`; the ledger is closed with the block."""
    ledger = Ledger.open(home)
    with ledger.hold(study):
        home.study(study).mkdir(parents=True, exist_ok=True)
        plan = ledger.facts(study).plan
        assert plan is not None
        budget = Budget(ledger, study, plan.budget)
        with stop_requests(home.pause_flag(study)) as stop:
            yield StudyContext(
                study, ledger, home, NOTHING, NOTHING, budget, stop, observer or Observer()
            )
    ledger.close()
