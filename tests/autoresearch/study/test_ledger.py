"""The ledger: what is stored once stays as it is, and reading changes nothing."""

import pytest
from support.plans import small_plan, trial_spec

from autoresearch.study.home import Home
from autoresearch.study.ledger import Ledger
from swarm.errors import Refusal


def test_a_study_reads_back_as_it_was_written(ledger: Ledger, home: Home) -> None:
    plan = small_plan()
    ledger.save_plan("s1", plan)
    ledger.set_stage("s1", "pilot")
    ledger.set_status("s1", "paused", "by the user")
    ledger.add_event("s1", "started", host="here")
    facts = Ledger.open(home).facts("s1")
    assert (facts.topic, facts.stage, facts.status, facts.cause) == (
        "advantage std",
        "pilot",
        "paused",
        "by the user",
    )
    assert facts.plan == plan
    assert facts.registration is None
    assert facts.events[0]["detail"] == {"host": "here"}
    assert ledger.options("s1") == {"seed": 3, "set": {"a": None}}
    assert [s.study for s in ledger.studies()] == ["s1"]


def test_creating_a_study_twice_keeps_the_first(ledger: Ledger) -> None:
    ledger.set_stage("s1", "tune")
    ledger.create_study("s1", "another topic", {})
    assert ledger.facts("s1").topic == "advantage std"
    assert ledger.facts("s1").stage == "tune"


def test_registration_is_once_and_for_all(ledger: Ledger) -> None:
    plan = small_plan()
    digest = ledger.register("s1", plan)
    first = ledger.facts("s1")
    assert digest == plan.digest() == first.registration
    assert ledger.register("s1", plan) == digest
    assert ledger.facts("s1").registered_at == first.registered_at
    for change in (ledger.register, ledger.save_plan):
        with pytest.raises(Refusal, match="can no longer change"):
            change("s1", small_plan(question="something else?"))
    assert ledger.facts("s1") == first
    assert first.plan is not None
    assert first.plan.digest() == digest


def test_a_record_is_written_once(ledger: Ledger) -> None:
    assert ledger.record("s1", "size", {"n": 5}) == {"n": 5}
    assert ledger.record("s1", "size", {"n": 9}) == {"n": 5}
    assert ledger.facts("s1").records == {"size": {"n": 5}}


def test_trials_are_inserted_once(ledger: Ledger) -> None:
    ledger.insert_trials([trial_spec(1), trial_spec(2)])
    ledger.start_attempt("s1", trial_spec(1).id)
    ledger.insert_trials([trial_spec(2), trial_spec(1), trial_spec(3)])
    trials = ledger.facts("s1").trials
    assert [t.spec.seed for t in trials] == [1, 2, 3]
    assert [t.status for t in trials] == ["running", "pending", "pending"]
    assert trials[0].spec == trial_spec(1)


def test_two_studies_may_share_a_trial(ledger: Ledger, home: Home) -> None:
    ledger.insert_trials([trial_spec(1)])
    with ledger.hold("s2"):
        ledger.create_study("s2", "the same again", {})
        ledger.insert_trials([trial_spec(1).model_copy(update={"study": "s2"})])
        ledger.start_attempt("s2", trial_spec(1).id)
        assert [t.status for t in ledger.facts("s1").trials] == ["pending"]
        assert [t.status for t in ledger.facts("s2").trials] == ["running"]


def test_attempts_are_numbered_and_end_with_their_trial(ledger: Ledger, home: Home) -> None:
    from dataclasses import replace

    trial = trial_spec(1)
    ledger.insert_trials([trial])
    first = ledger.start_attempt("s1", trial.id)
    lost = replace(first, status="lost", cause="killed", charged=False, seconds=2.0)
    ledger.end_attempt("s1", trial.id, lost, "pending")
    second = ledger.start_attempt("s1", trial.id)
    ended = replace(second, status="finished", manifest="ab", summary={"eval/acc": 0.5})
    ledger.end_attempt("s1", trial.id, ended, "finished")
    (read,) = ledger.facts("s1").trials
    assert (first.number, second.number) == (1, 2)
    assert read.status == "finished"
    assert read.attempts == (lost, ended)
    assert read.folder == home.attempt("s1", trial.id, 2)


def test_an_event_with_a_key_is_added_once(ledger: Ledger) -> None:
    assert ledger.add_event("s1", "alarm", once="t1/entropy", step=3)
    assert not ledger.add_event("s1", "alarm", once="t1/entropy", step=4)
    assert ledger.add_event("s1", "alarm", once="t2/entropy", step=4)
    assert ledger.add_event("s1", "retry")
    assert ledger.add_event("s1", "retry")
    assert [e["kind"] for e in ledger.facts("s1").events] == ["alarm", "alarm", "retry", "retry"]
    assert ledger.facts("s1").events[0]["detail"] == {"step": 3}


def test_verdicts_are_replaced_and_findings_kept(ledger: Ledger) -> None:
    ledger.save_verdicts("s1", [{"hypothesis": "H1", "verdict": "inconclusive"}])
    ledger.save_verdicts("s1", [{"hypothesis": "H1", "verdict": "supported"}])
    assert ledger.verdicts("s1") == [{"hypothesis": "H1", "verdict": "supported"}]
    ledger.add_finding("s1", "H1", "dividing advantages by std helps", {"effect": 0.1})
    ledger.add_finding("s1", "H1", "something else", {})
    ledger.add_finding("s1", "H2", "larger groups help", {})
    assert [f["hypothesis"] for f in ledger.findings("divide by the std?")] == ["H1"]
    assert ledger.findings("std")[0]["detail"] == {"effect": 0.1}
    assert len(ledger.findings()) == 2


def test_writing_without_holding_is_refused(home: Home, ledger: Ledger) -> None:
    with pytest.raises(RuntimeError, match="hold"):
        Ledger.open(home).set_stage("s1", "done")
