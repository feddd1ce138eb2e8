"""`autoresearch doctor`: what it finds, and what it says to do."""

from pathlib import Path

import pytest
from support.commands import Run

from autoresearch.cli import doctor
from autoresearch.cli.doctor import Check
from autoresearch.study.home import Home

NAMES = ["python", "home", "disk", "torch", "model", "ray", "mlflow"]


def test_a_check_that_raises_is_a_failure_in_one_line() -> None:
    def broken() -> Check:
        raise OSError("no\n  such thing")

    assert doctor._tried("ray", broken, "look") == Check("ray", "fail", "no such thing", "look")


def test_an_error_without_words_is_named_by_its_kind() -> None:
    def broken() -> Check:
        raise KeyError

    assert doctor._tried("ray", broken, "look").detail == "KeyError"


def test_little_space_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Home(tmp_path / "new")  # its folder need not be there
    assert doctor._disk(home).name == "disk"
    monkeypatch.setattr(doctor, "_FREE_BYTES", 2**80)
    assert (doctor._disk(home).status, doctor._disk(home).next_step) == (
        "warn",
        "a full study may need a few GiB",
    )


def test_a_sound_machine_has_nothing_that_fails(run: Run) -> None:
    said = run("doctor", "--json")
    checks = said.document["checks"]
    assert [check["name"] for check in checks] == NAMES
    assert [check for check in checks if check["status"] == "fail"] == []
    assert said.code == 0


def test_one_failure_is_exit_code_1_and_the_others_are_still_tried(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_ray", "_mlflow"):  # they take seconds and are tried above
        monkeypatch.setattr(doctor, name, lambda scratch: Check("later", "ok", "tried"))
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("AUTORESEARCH_HOME", str(tmp_path / "file" / "home"))
    said = run("doctor", "--json")
    status = {check["name"]: check["status"] for check in said.document["checks"]}
    assert said.code == 1
    assert (status["home"], status["torch"], status["later"]) == ("fail", "ok", "ok")
