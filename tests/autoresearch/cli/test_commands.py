"""Commands as a user types them, without training anything."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from autoresearch.cli.app import main
from autoresearch.planner.drive import new_study
from autoresearch.planner.offline import draft
from autoresearch.planner.options import StartOptions
from autoresearch.study.ledger import Ledger
from autoresearch.study.paths import Home

TOPIC = "does dividing by the group std matter in GRPO?"


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    @property
    def document(self):
        return json.loads(self.out)


Run = Callable[..., Said]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> Run:
    monkeypatch.setenv("AUTORESEARCH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "100")

    def command(*arguments: str) -> Said:
        monkeypatch.setattr(sys, "argv", ["autoresearch", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        said = capsys.readouterr()
        return Said(int(end.value.code or 0), said.out, said.err)

    return command


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def study(home: Home) -> str:
    options = StartOptions(topic=TOPIC, profile="smoke")
    return new_study(home, draft(TOPIC, options), options)


BAD = {
    "empty topic": (["start", ""], "topic: "),
    "blank topic": (["start", "  "], "topic: "),
    "topic that nothing fits": (["start", "best pancake recipe"], "nearest playbooks"),
    "unknown playbook": (["start", TOPIC, "--playbook", "advantage-sdt"], "did you mean"),
    "budget": (["start", TOPIC, "--budget", "2x"], "budget: "),
    "budget too small": (["start", TOPIC, "--budget", "1s"], "budget: "),
    "seed": (["start", TOPIC, "--seed", "one"], "seed: "),
    "negative seed": (["start", TOPIC, "--seed", "-1"], "seed: "),
    "set without value": (["start", TOPIC, "--set", "optim.lr"], "set: "),
    "set of no setting": (["start", TOPIC, "--set", "optim.lrr=1"], "did you mean optim.lr?"),
    "task": (["start", TOPIC, "--task", "chess"], "task: "),
    "model": (["start", TOPIC, "--model", "tinny"], "did you mean tiny?"),
    "ray address": (["start", TOPIC, "--ray-address", "here"], "--ray-address here"),
    "dead ray address": (["start", TOPIC, "--ray-address", "127.0.0.1:1"], "nothing answers"),
    "study to resume": (["resume", "nothing"], "study: "),
    "study to show": (["status", "nothing"], "study: "),
    "no study to show": (["status"], "study: "),
    "study to stop": (["stop", "nothing"], "study: "),
    "study to pause": (["pause", "nothing"], "study: "),
    "study to read": (["logs", "nothing"], "study: "),
    "nothing to look at": (["ui"], "home: "),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_leaves_nothing(run: Run, home: Home, case: str):
    arguments, expected = BAD[case]
    said = run(*arguments)
    assert said.code == 2
    assert said.out == ""
    (line,) = said.err.splitlines()
    assert line.startswith("error: ")
    assert expected in line
    assert ";" in line
    assert not home.root.exists()


#: Commands that take `--json`, of those above.
WITH_JSON = [case for case, (words, _) in BAD.items() if words[0] in ("start", "resume", "status")]


@pytest.mark.parametrize("case", WITH_JSON)
def test_bad_input_is_a_document_too(run: Run, case: str):
    """On stdout, with the same field, problem and next step as the line on stderr."""
    said = run(*BAD[case][0], "--json")
    error = said.document["error"]
    assert said.document["exit"] == said.code == 2
    parts = [error[name] for name in ("field", "problem", "next_step")]
    assert said.err.startswith(f"error: {parts[0]}: {parts[1]}")
    if parts[2] is not None:
        assert said.err.endswith(f"; {parts[2]}\n")


USAGE = {
    "missing": (["start"], "topic: Missing argument 'TOPIC'; see: autoresearch start --help"),
    "choice": (["start", TOPIC, "--profile", "huge"], "profile: Invalid value for '--profile'"),
    "planner": (["start", TOPIC, "--planner", "llm"], "planner: Invalid value"),
    "option": (["start", TOPIC, "--prfile", "full"], "--prfile: No such option: --prfile"),
    "command": (["begin", TOPIC], "command: No such command 'begin'"),
    "subcommand": (["playbook", "shw"], "command: No such command 'shw'"),
    "extra": (["status", "a", "b"], "Got unexpected extra argument"),
}


@pytest.mark.parametrize("case", USAGE)
def test_words_that_no_command_understands(run: Run, case: str):
    arguments, expected = USAGE[case]
    said = run(*arguments)
    assert (said.code, said.out) == (2, "")
    (line,) = said.err.splitlines()
    assert line.startswith("error: ")
    assert expected in line
    assert "; see: autoresearch" in line
    as_json = run(*arguments, "--json")
    assert as_json.document["exit"] == as_json.code == 2
    assert as_json.document["error"]["problem"] in line


def test_a_group_without_a_command_shows_its_help(run: Run):
    for words in ([], ["playbook"]):
        said = run(*words)
        assert said.code == 2
        assert "Usage: autoresearch" in said.out + said.err
        assert "error" not in said.err


def test_a_folder_that_cannot_be_written(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("AUTORESEARCH_HOME", str(tmp_path / "file" / "home"))
    said = run("start", TOPIC)
    assert said.code == 2
    assert "AUTORESEARCH_HOME" in said.err


def test_dry_run_prints_the_plan_and_touches_nothing(run: Run, home: Home):
    said = run("start", TOPIC, "--dry-run", "--json")
    assert (said.code, said.err) == (0, "")
    assert said.document["playbook"] == "advantage-std"
    assert {"hypotheses", "arms", "seeds", "trials", "estimated_seconds"} <= said.document.keys()
    shown = run("start", TOPIC, "--dry-run")
    assert said.document["question"] in " ".join(shown.out.split())
    assert "confirmation per arm" in shown.out
    assert not home.root.exists()


def test_seeds_and_settings_reach_the_plan(run: Run):
    plain = run("start", TOPIC, "--dry-run", "--json").document
    other = run("start", TOPIC, "--seed", "7", "--dry-run", "--json").document
    assert plain["seeds"]["confirm"] != other["seeds"]["confirm"]
    fixed = run("start", TOPIC, "--set", "optim.lr=0.001", "--dry-run", "--json").document
    assert fixed["seeds"]["tuning"] == []


def test_a_new_study_is_listed_and_can_be_looked_at(run: Run, study: str):
    (row,) = run("list", "--json").document["studies"]
    assert (row["study"], row["status"], row["stage"]) == (study, "interrupted", "scope")
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
