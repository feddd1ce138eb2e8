"""A job in this process, without Ray: what ends how."""

from pathlib import Path

import pytest
from support import fault_entries as entries

from swarm.cluster.actor import Job, Outcome, one_line, run_job
from swarm.config.train import TrainConfig
from swarm.disk.folder import check_seal, read_result
from swarm.errors import BadStorage, BadTask


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "STEP_SECONDS", 0)


def job(folder: Path, seed: int, **changes: object) -> Job:
    config = TrainConfig(seed=seed, steps=4).model_dump(mode="json")
    return Job(
        **{
            "config": config,
            "folder": folder / "t" / "1",
            "resume_from": None,
            "entry": entries.ENTRY,
            **changes,
        }
    )  # type: ignore[arg-type]


def test_a_run_that_ends_is_sealed_and_finished(tmp_path: Path) -> None:
    assert run_job(job(tmp_path, 1)) == Outcome("finished")
    assert check_seal(tmp_path / "t" / "1") == []


def test_divergence_is_a_result_and_no_failure(tmp_path: Path) -> None:
    assert run_job(job(tmp_path, entries.DIVERGES)) == Outcome("diverged", "non-finite gradient")
    assert read_result(tmp_path / "t" / "1") is not None


def test_an_exception_is_a_failure_in_one_line(tmp_path: Path, capfd) -> None:
    outcome = run_job(job(tmp_path, entries.RAISES))
    assert outcome == Outcome("failed", "ValueError: seed 100 cannot learn")
    assert "Traceback" in capfd.readouterr().err


def test_a_failing_reward_is_final_and_named(tmp_path: Path) -> None:
    """Whatever would try again would fail again."""
    outcome = run_job(job(tmp_path, entries.REWARD))
    problem = "praise in mine.py returned 1 values for 4 completions on row 7"
    cause = f"{problem}; correct it and start anew"
    assert outcome == Outcome("failed", cause, final=True)


@pytest.mark.parametrize(
    ("error", "final"),
    [
        (BadTask("row 3 has no `prompt`", "give it one"), True),
        (BadStorage("s3://runs", "no answer", "try later"), False),
    ],
)
def test_a_refusal_is_final_but_for_a_place_that_may_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, final: bool
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(entries, "run", refused)
    assert run_job(job(tmp_path, 1)) == Outcome("failed", str(error), final=final)


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"config": {"seed": -1}}, "ValidationError"),
        ({"entry": "no_such_module:run"}, "No module named 'no_such_module'"),
        ({"entry": "support.fault_entries:no_such"}, "no attribute 'no_such'"),
    ],
)
def test_what_cannot_start_is_a_failure(tmp_path: Path, changes: dict, cause: str) -> None:
    outcome = run_job(job(tmp_path, 1, **changes))
    assert outcome.status == "failed"
    assert cause in outcome.cause


def test_an_unsealed_folder_is_not_believed(tmp_path: Path) -> None:
    outcome = run_job(job(tmp_path, entries.UNSEALED))
    assert outcome == Outcome("failed", "the run returned without sealing its folder")


def test_a_cause_is_one_short_line() -> None:
    assert one_line("\n  first \nsecond") == "first"
    assert one_line("") == ""
    assert len(one_line("x" * 1000)) == 300
