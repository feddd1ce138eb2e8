import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.synthetic_study import STUDY, Shape, enter_in_ledger, make_study
from typer.testing import CliRunner

from autoresearch.cli.report import app
from autoresearch.study.home import Home
from swarm.errors import Refusal

RUN = CliRunner()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    home = Home(tmp_path_factory.mktemp("cli"))
    facts = make_study(home, Shape(failed=()))
    enter_in_ledger(facts, home)
    return home


@pytest.fixture(autouse=True)
def _in_home(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTORESEARCH_HOME", str(home.root))


def test_build_then_verify_then_show(home: Home) -> None:
    built = RUN.invoke(app, ["build", STUDY])
    assert built.stdout.strip() == str(home.report(STUDY) / "report.md")
    verified = RUN.invoke(app, ["verify", STUDY])
    assert (verified.exit_code, verified.stdout) == (
        0,
        f"verified: {STUDY} follows from its 19 runs\n",
    )
    shown = RUN.invoke(app, ["show", STUDY])
    assert shown.stdout == (home.report(STUDY) / "report.md").read_text()
    claims = json.loads(RUN.invoke(app, ["show", STUDY, "--json"]).stdout)
    assert claims["schema"] == "autoresearch/claims/v1"
    assert claims["study"] == STUDY


def test_verify_exits_with_one_and_the_problems(home: Home) -> None:
    RUN.invoke(app, ["build", STUDY])
    report = home.report(STUDY) / "report.md"
    report.write_text(report.read_text().replace("19 trials", "18 trials"))
    found = RUN.invoke(app, ["verify", STUDY])
    assert found.exit_code == 1
    assert found.stdout == ""
    assert found.stderr.startswith("report.md line ")
    assert found.stderr.count("\n") == 1


def test_show_exports_the_trials(home: Home) -> None:
    rows = list(csv.DictReader(io.StringIO(RUN.invoke(app, ["show", STUDY, "--csv"]).stdout)))
    assert len(rows) == 19
    confirmed = [row for row in rows if row["phase"] == "confirm"]
    assert all(0.5 < float(row["score:eval/acc"]) < 0.8 for row in confirmed)
    assert Path(rows[0]["folder"]).is_dir()


def test_diff_of_a_study_with_itself(home: Home) -> None:
    RUN.invoke(app, ["build", STUDY])
    found = RUN.invoke(app, ["diff", STUDY, STUDY])
    assert (found.exit_code, found.stdout) == (0, "no difference beyond the intervals\n")


@pytest.mark.parametrize("command", [["show"], ["build"], ["verify"], ["diff", STUDY]])
def test_an_unknown_study_is_bad_input(command: list[str], home: Home) -> None:
    RUN.invoke(app, ["build", STUDY])
    found = RUN.invoke(app, [*command, "adv-std-7cle"])
    assert isinstance(found.exception, Refusal)
    assert f"did you mean {STUDY}?" in str(found.exception)


def test_a_study_without_a_report_names_the_next_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Home(tmp_path)
    enter_in_ledger(make_study(home, Shape(profile="smoke", failed=(), lost=())), home)
    monkeypatch.setenv("AUTORESEARCH_HOME", str(tmp_path))
    for command in ("show", "verify"):
        found = RUN.invoke(app, [command, STUDY])
        assert isinstance(found.exception, Refusal)
        assert f"report build {STUDY}" in str(found.exception)


def test_importing_the_command_group_is_light() -> None:
    code = (
        "import sys, autoresearch.cli.report; print([m for m in sys.argv[1:] if m in sys.modules])"
    )
    heavy = ("scipy", "matplotlib", "sqlite_utils", "pandas", "torch", "statsmodels")
    found = subprocess.run(
        [sys.executable, "-c", code, *heavy], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"
