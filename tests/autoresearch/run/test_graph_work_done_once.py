"""How often a study does what is costly, on one smoke study whose trials are stubbed."""

from collections import Counter
from typing import Any

import pytest
from support.contexts import holding_study
from support.plans import TOPIC
from support.stubbed_trials import StubbedTrials

from autoresearch.analysis import claims, evidence
from autoresearch.execute.observer import Observer
from autoresearch.planner import lint, planning
from autoresearch.planner.planning import plan_study
from autoresearch.run import graph
from autoresearch.run.study import new_study
from autoresearch.study import ledger_rows
from autoresearch.study.home import Home
from autoresearch.study.options import StartOptions

TRIALS, CONFIRMED = 10, 4


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Calls of each costly function, from the plan to the verified report."""
    found: Counter[str] = Counter()

    def count(module: Any, name: str, label: str) -> None:
        real = getattr(module, name)

        def counted(*args: Any, **more: Any) -> Any:
            found[label] += 1
            return real(*args, **more)

        monkeypatch.setattr(module, name, counted)

    count(evidence, "decide", "verdicts decided")
    count(evidence, "check_seal", "seals checked")
    count(evidence, "read_rows", "metrics read")
    count(claims, "claim_list", "claims computed")
    count(ledger_rows, "facts", "facts loaded")
    count(lint, "review", "plan linted")
    count(planning, "planner_named", "drafted")
    return found


def test_a_smoke_study_does_costly_things_once_a_look(
    counts: Counter[str], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    trials = StubbedTrials()
    monkeypatch.setattr("autoresearch.run.context.run_trials", trials)
    home = Home(tmp_path)
    options = StartOptions(topic=TOPIC, profile="smoke")
    study = new_study(home, plan_study(options).plan, options)
    with holding_study(home, study, Observer()) as context:
        graph.run_graph(context)
        facts = context.facts()
    assert facts.stage == "done"
    assert len(facts.trials) == TRIALS
    assert counts["verdicts decided"] == 1
    # At the look those that it counts, at the end all of them.
    assert counts["seals checked"] == CONFIRMED + TRIALS
    # Stubs of equal scores leave equal bytes, which are read once.
    assert 0 < counts["metrics read"] <= TRIALS
    # Written, and recomputed to verify.
    assert counts["claims computed"] == 2
    # The draft of the study, and that of its full profile.
    assert counts["plan linted"] == counts["drafted"] == 2
    # Once after each write that something is read after.
    assert counts["facts loaded"] <= 15
