"""A study that goes on under another fingerprint says so, once."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.contexts import entered, holding_study
from support.plans import plan_for

from autoresearch.execute.observer import Observer
from autoresearch.run import study as running
from autoresearch.study.fingerprint import study_fingerprint
from autoresearch.study.home import Home


class Noting(Observer):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


@pytest.mark.parametrize("changed", [None, "trainer", "torch"])
def test_what_changed_is_a_deviation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str | None
) -> None:
    home, plan, noted = Home(tmp_path), plan_for(profile="smoke"), Noting()
    study = entered(home, plan)
    recorded: dict[str, Any] = study_fingerprint(plan)
    names = [name for name in recorded if changed and changed in name]
    assert bool(names) == (changed is not None), recorded
    now = recorded | dict.fromkeys(names, "another")
    monkeypatch.setattr(running, "study_fingerprint", lambda plan: now)
    with holding_study(home, study, noted) as context:
        facts = replace(context.ledger.facts(study), records={"fingerprint": recorded})
        for _ in range(2):
            running._note_changes(context, facts)
        events = [e for e in context.ledger.facts(study).events if e["kind"] == "deviation"]
    assert len(events) == len(noted.notes) == (changed is not None)
    for text in noted.notes:
        assert "exact: false" in text
        assert names[0] in text
