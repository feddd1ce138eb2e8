"""Every refusal of both packages, met by a command that a user could type.

There is a case for each place in the code that makes a Refusal; `support.refusal_sites` finds them.
It runs in this process, through the command line's own `main`.
"""

import sys
from pathlib import Path

import pytest
from support.refusal_sites import site_at, sites
from support.refused import Case
from support.refused_by_autoresearch import CASES as AUTORESEARCH
from support.refused_by_autoresearch import OUT_OF_REACH as OUT_OF_REACH_OF_AUTORESEARCH
from support.refused_by_swarm import CASES as SWARM
from support.refused_by_swarm import OUT_OF_REACH as OUT_OF_REACH_OF_SWARM

import autoresearch.cli.app
import swarm.cli.app
from swarm.errors import Refusal

CASES = AUTORESEARCH | SWARM
OUT_OF_REACH = OUT_OF_REACH_OF_AUTORESEARCH | OUT_OF_REACH_OF_SWARM
MAIN = {"autoresearch": autoresearch.cli.app.main, "swarm": swarm.cli.app.main}


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """The sites of the refusals that were made, by what they say."""
    found: dict[str, list[str]] = {}
    plain = Refusal.__init__

    def recorded(self: Refusal, field: str, problem: str, next_step: str) -> None:
        plain(self, field, problem, next_step)
        frame = sys._getframe(1)
        while frame.f_locals.get("self") is self and frame.f_back is not None:
            frame = frame.f_back  # a constructor that calls this one
        site = site_at(frame.f_code.co_filename, frame.f_lineno)
        found.setdefault(str(self), []).append(str(site))

    monkeypatch.setattr(Refusal, "__init__", recorded)
    return found


@pytest.mark.parametrize("site", CASES)
def test_a_command_that_is_refused(
    site: str,
    made: dict[str, list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:
    """One line on stderr names field, problem and next step; the exit code is 2."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AUTORESEARCH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("AUTORESEARCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SWARM_CACHE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    case: Case = CASES[site]
    words = case.prepare()
    monkeypatch.setattr(sys, "argv", words)
    capsys.readouterr()
    with case.standing_in(), pytest.raises(SystemExit) as end:
        MAIN[words[0]]()
    line = capsys.readouterr().err
    assert (end.value.code, line.count("\n"), line[:7]) == (2, 1, "error: "), line
    field, _, rest = line.removeprefix("error: ").partition(": ")
    problem, _, next_step = rest.rpartition("; ")
    assert all((field.strip(), problem.strip(), next_step.strip())), line
    assert site in made.get(line.removeprefix("error: ").rstrip("\n"), []), (line, made)


def test_every_place_that_refuses_has_a_case() -> None:
    named = {site.name for site in sites()}
    assert sorted(named - CASES.keys() - OUT_OF_REACH.keys()) == []
    assert sorted((CASES.keys() | OUT_OF_REACH.keys()) - named) == []
    assert CASES.keys() & OUT_OF_REACH.keys() == set()
