"""The tuning phase on trials that score what a function of their value says."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from support.synthetic_study import Shape, make_plan

from autoresearch.analysis.evidence import Evidence
from autoresearch.design.tuning import START
from autoresearch.run.tuning_phase import tune
from autoresearch.study.facts import AttemptFacts, StudyFacts, TrialFacts
from autoresearch.study.plan import Plan, Tuning
from autoresearch.study.trial import TrialSpec
from swarm.disk.folder import RunWriter


class Machine:
    """Runs trials at once: each logs the score that `law` gives its learning rate."""

    def __init__(self, folder: Path, plan: Plan, law: Callable[[float], float | None]) -> None:
        self.folder = folder
        self.plan = plan
        self.law = law
        self.calls: list[list[TrialSpec]] = []
        self.trials: dict[str, TrialFacts] = {}

    def __call__(self, specs: Sequence[TrialSpec]) -> Evidence:
        self.calls.append(list(specs))
        for spec in specs:
            self.trials.setdefault(spec.id, self._ended(spec))
        trials = tuple(self.trials.values())
        facts = StudyFacts("s", "t", "tune", "running", 0.0, plan=self.plan, trials=trials)
        return Evidence(facts)

    def _ended(self, spec: TrialSpec) -> TrialFacts:
        score, folder = self.law(spec.config.optim.lr), self.folder / spec.id
        if score is None:
            return TrialFacts(spec, "failed", (AttemptFacts(1, folder, "failed"),))
        writer = RunWriter(folder)
        for step in range(0, spec.config.steps + 1, spec.config.evaluation.every):
            writer.metrics(step, float(step), {"eval/acc": score})
        return TrialFacts(spec, "finished", (AttemptFacts(1, folder, "finished"),))


def rule(candidates: int, sampler: str = "tpe") -> Tuning:
    return Tuning(
        factor="lr", path="optim.lr", low=1e-4, high=1e-2, candidates=candidates, sampler=sampler
    )


@pytest.fixture
def plan() -> Plan:
    return make_plan(Shape())


def tuned(machine: Machine, wanted: Tuning) -> dict:
    return tune("s", "r" * 64, machine.plan, wanted, machine)


def test_the_best_value_is_chosen_on_all_arms(tmp_path: Path, plan: Plan) -> None:
    machine = Machine(tmp_path, plan, lambda lr: 1.0 - abs(lr - 1e-3))
    record = tuned(machine, rule(3))
    values = [candidate["value"] for candidate in record["candidates"]]
    assert record["path"] == "optim.lr"
    assert record["value"] == min(values, key=lambda lr: abs(lr - 1e-3))
    assert [c["label"] for c in record["candidates"]] == [f"candidate-{i}" for i in (1, 2, 3)]
    assert {spec.arm for spec in machine.calls[0]} == {arm.id for arm in plan.arms}


def test_first_candidates_run_side_by_side_and_later_ones_one_by_one(
    tmp_path: Path, plan: Plan
) -> None:
    machine = Machine(tmp_path, plan, lambda lr: lr)
    tuned(machine, rule(START + 2))
    asked = [len({spec.label for spec in call}) for call in machine.calls]
    assert asked == [START, 1, 1]


def test_a_grid_runs_at_once(tmp_path: Path, plan: Plan) -> None:
    machine = Machine(tmp_path, plan, lambda lr: lr)
    tuned(machine, rule(6, "grid"))
    assert [len({spec.label for spec in call}) for call in machine.calls] == [6]


def test_running_it_again_asks_for_the_same_trials(tmp_path: Path, plan: Plan) -> None:
    machine = Machine(tmp_path, plan, lambda lr: 1.0 - abs(lr - 2e-3))
    first = tuned(machine, rule(5))
    ran = len(machine.trials)
    assert tuned(machine, rule(5)) == first
    assert len(machine.trials) == ran


def test_a_candidate_that_fails_is_not_chosen(tmp_path: Path, plan: Plan) -> None:
    machine = Machine(tmp_path, plan, lambda lr: None if lr > 1e-3 else lr)
    record = tuned(machine, rule(3))
    scores = {c["value"]: c["score"] for c in record["candidates"]}
    assert scores[record["value"]] is not None
    assert [value for value, score in scores.items() if score is None] == [
        value for value in scores if value > 1e-3
    ]


def test_where_nothing_could_be_scored_the_plans_own_value_stays(
    tmp_path: Path, plan: Plan
) -> None:
    record = tuned(Machine(tmp_path, plan, lambda lr: None), rule(3))
    assert record["value"] == plan.train.optim.lr
    assert [c["score"] for c in record["candidates"]] == [None] * 3
