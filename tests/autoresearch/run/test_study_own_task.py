"""A study on the user's own rows."""

from pathlib import Path

import pytest
from support.plans import TOPIC, plan_for

from autoresearch.execute.observer import Observer
from autoresearch.run.study import new_study, run_study
from autoresearch.study.home import Home
from autoresearch.study.ledger import Ledger
from autoresearch.study.options import StartOptions
from swarm.errors import Refusal


def test_a_study_is_not_taken_up_on_changed_files(data: Path, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    plan = plan_for(task=str(data), profile="smoke")
    study = new_study(home, plan, StartOptions(topic=TOPIC, task=str(data)))
    data.write_text(data.read_text().replace('"answer": "ba"', '"answer": "bb"'))
    with pytest.raises(Refusal, match=r"task\.digest"):
        run_study(home, study, observer=Observer())
    ledger = Ledger.open(home)
    assert ledger.facts(study).trials == ()
    ledger.close()
