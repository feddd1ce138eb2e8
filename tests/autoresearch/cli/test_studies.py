"""Commands on studies that are there, without training anything."""

from support.commands import Run

from autoresearch.study.home import Home
from autoresearch.study.ledger import Ledger


def test_a_new_study_is_listed_and_can_be_looked_at(run: Run, study: str):
    (row,) = run("list", "--json").document["studies"]
    assert (row["study"], row["status"], row["stage"]) == (study, "interrupted", "freeze")
    assert study in run("list").out
    document = run("status", study, "--json").document
    assert document == run("status", "--json").document
    assert document["trials"]["finished"] == 0
    assert [arm["n"] for arm in document["arms"]] == [0, 0]
    assert f"autoresearch resume {study}" in run("status").out


def test_an_empty_home_says_how_to_begin(run: Run, home: Home):
    assert run("list", "--json").document == {"studies": []}
    assert "autoresearch start" in run("list").out
    assert not home.root.exists()


def test_logs_show_events_in_order(run: Run, home: Home, study: str):
    ledger = Ledger.open(home)
    with ledger.hold(study):
        ledger.add_event(study, "size", text="5 seeds an arm", n=5)
        ledger.add_event(study, "look", text="look 1 of 1")
    first, second = run("logs", study).out.splitlines()
    assert "size" in first
    assert "5 seeds an arm, n 5" in first
    assert "look 1 of 1" in second
    assert run("logs", study, "--raw").out == ""


def test_a_study_that_another_process_holds_is_left_alone(run: Run, home: Home, study: str):
    ledger = Ledger.open(home)
    with ledger.hold(study):
        before = Ledger.open(home).facts(study)
        said = run("resume", study)
        assert said.code == 5
        assert "held by process" in said.err
        assert Ledger.open(home).facts(study) == before
        assert not home.graph_file(study).exists()
        (row,) = run("list", "--json").document["studies"]
        assert row["status"] == "running"


def test_pause_asks_the_driver_and_refuses_without_one(run: Run, home: Home, study: str):
    said = run("pause", study)
    assert said.code == 2
    assert "interrupted" in said.err
    ledger = Ledger.open(home)
    with ledger.hold(study):
        assert run("pause", study).code == 0
        assert home.pause_flag(study).exists()


def test_a_stopped_study_stays_stopped(run: Run, home: Home, study: str):
    assert run("stop", study).code == 0
    assert Ledger.open(home).facts(study).status == "stopped"
    assert run("stop", study).code == 2
    said = run("resume", study)
    assert said.code == 2
    assert "start a new one" in said.err


def test_a_finished_study_is_not_run_again(run: Run, home: Home, study: str):
    ledger = Ledger.open(home)
    plan = ledger.facts(study).plan
    assert plan is not None
    with ledger.hold(study):
        ledger.register(study, plan)
        ledger.set_status(study, "done")
        ledger.set_stage(study, "done")
    before = ledger.facts(study)
    said = run("resume", study, "--json")
    assert said.code == 0
    assert said.document["status"] == "done"
    assert said.document["trials"] == {"done": 0, "failed": 0}
    assert Ledger.open(home).facts(study) == before
