"""The graph enters where the ledger says, whatever its checkpoint says, and repeats no trial."""

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing

import pytest
from support.contexts import holding_study
from support.plans import TOPIC
from support.stubbed_trials import Killed, StubbedTrials

from autoresearch.design.seeds import allot
from autoresearch.planner.planning import plan_study
from autoresearch.run import graph
from autoresearch.run.context import StudyContext
from autoresearch.run.study import new_study
from autoresearch.study.home import Home
from autoresearch.study.ledger import Ledger
from autoresearch.study.options import StartOptions
from autoresearch.study.rules import Decision

LATE_STAGES = ("pilot", "size", "tune", "confirm", "look", "report", "verify")


@pytest.fixture
def trials(monkeypatch: pytest.MonkeyPatch) -> StubbedTrials:
    found = StubbedTrials()
    monkeypatch.setattr("autoresearch.run.context.run_trials", found)
    return found


@pytest.fixture
def home(tmp_path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home whose reports are not drawn: the report has tests of its own."""

    def build(facts, home, readings):
        home.report(facts.study).mkdir(parents=True, exist_ok=True)

    monkeypatch.setattr("autoresearch.report.build", build)
    monkeypatch.setattr("autoresearch.report.verify", lambda facts, home, readings: [])
    return Home(tmp_path)


def start(home: Home) -> str:
    options = StartOptions(topic=TOPIC, profile="smoke")
    return new_study(home, plan_study(options).plan, options)


def start_at_freeze(home: Home, **changes: object) -> str:
    """A study with a plan that the offline planner may not write."""
    study = start(home)
    ledger = Ledger.open(home)
    plan = ledger.facts(study).plan
    assert plan is not None
    with ledger.hold(study):
        ledger.save_plan(study, plan.model_copy(update=changes))
        ledger.set_stage(study, "freeze")
    ledger.close()
    return study


def run_on(home: Home, study: str) -> Ledger:
    with holding_study(home, study) as context:
        graph.run_graph(context)
    return Ledger.open(home)


def rows(home: Home, study: str) -> dict[str, int]:
    with closing(sqlite3.connect(home.graph_file(study))) as db:
        return {
            table: db.execute(f"SELECT count(DISTINCT checkpoint_id) FROM {table}").fetchone()[0]
            for table in ("checkpoints", "writes")
        }


def test_a_study_runs_from_topic_to_done(home: Home, trials: StubbedTrials):
    study = start(home)
    facts = run_on(home, study).facts(study)
    assert (facts.stage, facts.status) == ("done", "done")
    assert {"fingerprint", "full", "size", "tuning", "look-1"} <= facts.records.keys()
    assert facts.registration == facts.plan.digest()
    assert len(trials.ran) == len(facts.trials) == 10
    chosen = facts.records["tuning"]["value"]
    assert {t.spec.config.optim.lr for t in facts.of_phase("confirm")} == {chosen}


def test_the_checkpoint_keeps_its_latest_row_only(home: Home, trials: StubbedTrials):
    study = start(home)
    run_on(home, study)
    assert rows(home, study)["checkpoints"] == 1
    assert rows(home, study)["writes"] <= 1


@pytest.mark.parametrize("stage", LATE_STAGES)
@pytest.mark.parametrize("moment", ["before", "after"])
def test_death_at_any_stage_repeats_no_trial(
    home: Home, trials: StubbedTrials, monkeypatch: pytest.MonkeyPatch, stage: str, moment: str
):
    study = start_at_freeze(home)
    once = {"left": 1}
    node = graph.NODES[stage]

    def dying(work: StudyContext):
        if once["left"] and moment == "before":
            once["left"] = 0
            raise Killed
        following = node(work)
        if once["left"]:
            once["left"] = 0
            raise Killed
        return following

    monkeypatch.setattr(graph, "NODES", {**graph.NODES, stage: dying})
    with pytest.raises(Killed):
        run_on(home, study)
    facts = run_on(home, study).facts(study)
    assert (facts.stage, facts.status) == ("done", "done")
    assert len(trials.ran) == len(set(trials.ran)) == len(facts.trials) == 10
    assert [kind for kind in facts.records if kind.startswith("look-")] == ["look-1"]


@pytest.mark.parametrize("after", [1, 3, 5, 8])
def test_death_within_a_phase_repeats_no_trial(home: Home, trials: StubbedTrials, after: int):
    study = start_at_freeze(home)
    trials.die_after = after
    with pytest.raises(Killed):
        run_on(home, study)
    trials.die_after = None
    assert run_on(home, study).facts(study).stage == "done"
    assert len(trials.ran) == len(set(trials.ran)) == 10


def damage_nothing(home: Home, study: str) -> None:
    """The checkpoint is as the dead process left it."""


def remove(home: Home, study: str) -> None:
    home.graph_file(study).unlink()


def lag_behind(home: Home, study: str) -> None:
    """The ledger is a stage ahead, as after a death between its write and the checkpoint's."""
    ledger = Ledger.open(home)
    with ledger.hold(study):
        assert ledger.facts(study).stage == "tune"
        ledger.set_stage(study, "confirm")
    ledger.close()


def scramble(home: Home, study: str) -> None:
    home.graph_file(study).write_bytes(random.Random(0).randbytes(2000))


def cut(home: Home, study: str) -> None:
    file = home.graph_file(study)
    file.write_bytes(file.read_bytes()[:5000])


def write_nonsense(home: Home, study: str) -> None:
    """A database that is whole, and holds what LangGraph never wrote."""
    with closing(sqlite3.connect(home.graph_file(study))) as db, db:
        db.execute("UPDATE checkpoints SET checkpoint = x'c1c1'")


def other_tables(home: Home, study: str) -> None:
    remove(home, study)
    with closing(sqlite3.connect(home.graph_file(study))) as db, db:
        db.execute("CREATE TABLE checkpoints (thing)")


def a_folder(home: Home, study: str) -> None:
    """It cannot be dropped as a file is: the checkpoint is kept in memory."""
    remove(home, study)
    (home.graph_file(study) / "full").mkdir(parents=True)


@pytest.mark.parametrize(
    "damage",
    [
        damage_nothing,
        remove,
        lag_behind,
        scramble,
        cut,
        write_nonsense,
        other_tables,
        a_folder,
    ],
)
def test_a_missing_or_older_checkpoint_does_no_harm(
    home: Home, trials: StubbedTrials, damage: Callable[[Home, str], None]
):
    study = start_at_freeze(home)
    trials.die_after = 2
    with pytest.raises(Killed):
        run_on(home, study)
    trials.die_after = None
    damage(home, study)
    assert run_on(home, study).facts(study).stage == "done"


def test_another_graph_version_enters_at_the_ledgers_stage(
    home: Home, trials: StubbedTrials, monkeypatch: pytest.MonkeyPatch
):
    """A renamed node is the classic silent end: LangGraph alone would return as if done."""
    study = start_at_freeze(home)
    trials.die_after = 4
    with pytest.raises(Killed):
        run_on(home, study)
    trials.die_after = None
    monkeypatch.setattr(graph, "GRAPH_VERSION", "another")
    assert run_on(home, study).facts(study).stage == "done"
    assert len(trials.ran) == len(set(trials.ran)) == 10


def test_a_checkpoint_that_says_done_does_not_end_a_study_that_is_not(
    home: Home, trials: StubbedTrials
):
    study = start(home)
    ledger = run_on(home, study)
    with ledger.hold(study):
        ledger.set_status(study, "running")
        ledger.set_stage(study, "report")
    ledger.close()
    assert run_on(home, study).facts(study).stage == "done"


def test_a_stage_may_not_lead_anywhere(
    home: Home, trials: StubbedTrials, monkeypatch: pytest.MonkeyPatch
):
    study = start(home)
    monkeypatch.setattr(graph, "NODES", {**graph.NODES, "pilot": lambda work: "verify"})
    with pytest.raises(RuntimeError, match="may not lead to"):
        run_on(home, study)


def test_looks_go_on_until_one_decides(home: Home, trials: StubbedTrials):
    rules = Decision(looks=(2, 3, 4), exploratory=True)
    seeds = allot(0, pilot=2, tuning=0, confirm=4)
    study = start_at_freeze(home, profile="full", decision=rules, seeds=seeds, tuning=None)
    trials.effect, trials.spread = 0.02, 0.03
    facts = run_on(home, study).facts(study)
    taken = {kind: r["n"] for kind, r in facts.records.items() if kind.startswith("look-")}
    assert len(taken) > 1
    assert list(taken.values()) == [2, 3, 4][: len(taken)]
    assert len(facts.of_phase("confirm")) == 2 * max(taken.values())
    assert facts.records[f"look-{len(taken)}"]["stop"]


def test_findings_are_recalled_by_the_next_study(home: Home, trials: StubbedTrials):
    first = start(home)
    run_on(home, first)
    ledger = Ledger.open(home)
    options = StartOptions(topic=TOPIC, profile="smoke")
    drafted = plan_study(options, findings=ledger.findings(TOPIC))
    (known,) = drafted.intent.known
    assert first in known
    assert known in drafted.plan.notes
