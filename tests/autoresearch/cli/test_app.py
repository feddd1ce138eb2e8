"""Words that cannot be followed: one line, exit code 2, nothing left behind."""

import pytest
from support.commands import Run
from support.plans import TOPIC

from autoresearch.study.home import Home

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
    "missing": (["resume"], "study: Missing argument 'STUDY'; see: autoresearch resume --help"),
    "choice": (["start", TOPIC, "--profile", "huge"], "profile: Invalid value for '--profile'"),
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
