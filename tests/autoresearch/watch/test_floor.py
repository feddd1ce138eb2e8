"""A pilot in which nothing is ever right."""

from pathlib import Path

import pytest
from support.contexts import entered, holding_study
from support.plans import plan_for
from support.stubbed_trials import StubbedTrials

from autoresearch.run import context as running
from autoresearch.run import stages
from autoresearch.study.endings import AtTheFloor
from autoresearch.study.home import Home


@pytest.mark.parametrize("base", [0.0, 0.01])
def test_the_study_ends_and_says_what_is_counted(
    base: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "run_trials", StubbedTrials(spread=0.0, base=base))
    home, plan = Home(tmp_path), plan_for(profile="smoke")
    with holding_study(home, entered(home, plan)) as context:
        stages.freeze(context)
        if base:
            assert stages.pilot(context) == "size"
            return
        with pytest.raises(AtTheFloor, match="eval/acc counts the right answers of reverse") as end:
            stages.pilot(context)
        assert "any of 2 pilot runs" in str(end.value)


def test_another_metric_has_no_such_floor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "run_trials", StubbedTrials(spread=0.0, base=0.0))
    plan = plan_for(profile="smoke")
    other = [h.model_copy(update={"metric": "reward/mean"}) for h in plan.hypotheses]
    home, plan = Home(tmp_path), plan.model_copy(update={"hypotheses": tuple(other)})
    with holding_study(home, entered(home, plan)) as context:
        stages.freeze(context)
        assert stages.pilot(context) == "size"
