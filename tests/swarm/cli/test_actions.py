"""What looks wrong is said while a run goes on; what ends it is one line, and it can be resumed."""

import json
import sys
from pathlib import Path

import pytest
from support.commands import Said

from swarm.cli import app
from swarm.disk.folder import EVENTS, MANIFEST, METRICS, read_rows

pytestmark = pytest.mark.usefixtures("tiny_model")

CODE = """
import itertools, os, pathlib, signal
WORDS = map("".join, itertools.product("bgk", repeat=5))
class Made:
    rows = [{"prompt": f"S:{word}>", "answer": "x"} for word in WORDS]
    def reward(self, prompts, completions, answer, **_):
        print("a debug line")
        REWARD
def make():
    print("made")
    return Made()
"""
NONE, ZERO = "return [None] * len(prompts)", "return [0.0] * len(prompts)"
RAISES = "raise ValueError('no answer')"
STOPS_ONCE = """seen = pathlib.Path("seen")
        if not seen.exists() and "S:b" in prompts[0]:
            seen.touch()
            os.kill(os.getpid(), signal.SIGTERM)
        return [float(len(c)) for c in completions]"""


@pytest.fixture
def swarm(config: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture):
    """`swarm("train", reward)`: what a command says of the small config with this reward."""

    def command(verb: str, reward: str, *words: str) -> Said:
        Path("mine.py").write_text(CODE.replace("REWARD", reward))
        task = ("--set", "task.ref=mine.py:make", "--set", "task.args={}")
        own = ("--set", "task.reward=own")
        monkeypatch.setattr(sys, "argv", ["swarm", verb, str(config), *task, *own, *words])
        capfd.readouterr()
        with pytest.raises(SystemExit) as end:
            app.main()
        said = capfd.readouterr()
        return Said(int(end.value.code or 0), said.out, said.err)

    return command


def kinds(folder: Path) -> list[str]:
    return [e["detail"]["alarm"] for e in read_rows(folder / EVENTS) if e["kind"] == "alarm"]


@pytest.mark.parametrize(
    ("reward", "raised"),
    [(NONE, ["nothing-scored"]), (ZERO, ["reward-flat-at-zero", "accuracy-at-floor"])],
    ids=["none", "zero"],
)
def test_a_run_says_what_looks_wrong(swarm, reward: str, raised: list[str]) -> None:
    done = swarm("train", reward, "--out", "run", "--json")
    document = json.loads(done.out)
    alarms = [line for line in done.err.splitlines() if line.startswith("alarm at step ")]
    assert [line.split(": ")[1] for line in alarms] == kinds(Path("run")) == raised
    assert (done.code, document["status"]) == (0, "finished")
    first = None if reward == NONE else 0.0
    assert document["eval/acc"] == {"first": first, "last": first}
    assert "a debug line" in done.err
    text = Path("run", METRICS).read_text()
    assert ("NaN" not in text, "null" in text) == (True, True)


@pytest.mark.parametrize("as_json", [True, False])
def test_an_evaluation_in_which_nothing_is_judged_fails(swarm, as_json: bool) -> None:
    done = swarm("eval", NONE, *(["--json"] if as_json else []))
    assert done.code == app.FAILED
    assert "alarm: nothing-scored: " in done.err
    if as_json:
        document = json.loads(done.out)
        assert (document["n"], document["accuracy"], document["prompts"]) == (0, None, 16)
        assert [alarm["kind"] for alarm in document["alarms"]] == ["nothing-scored"]
    else:
        assert "avg@1 not measured, on 0 of 16 held-out prompts" in done.out
        assert "16 of 16 answers were not judged" in done.out


def test_a_reward_that_raises_names_the_next_step(swarm) -> None:
    done = swarm("train", RAISES, "--out", "run", "--json")
    error = json.loads(done.out)["error"]
    assert done.code == app.FAILED
    assert error["field"].startswith("Made.reward in ")
    assert error["problem"].startswith("raised ValueError: no answer on row ")
    assert error["next_step"] == "correct it and start anew"


def test_sigterm_saves_and_the_run_goes_on_where_it_stopped(swarm) -> None:
    done = swarm("train", STOPS_ONCE, "--out", "run", "--set", "checkpoint_every=50")
    lines = done.err.splitlines()
    assert (done.code, lines[-1].split(";")[0]) == (
        app.PAUSED,
        "error: SIGTERM: saved after step 0",
    )
    assert "SIGTERM: saving after this step; again to leave at once" in lines
    assert not Path("run", MANIFEST).exists()
    resumed = swarm("train", STOPS_ONCE, "--out", "run", "--resume", "--set", "checkpoint_every=50")
    assert resumed.code == app.DONE, resumed.err
    whole = swarm("train", STOPS_ONCE, "--out", "whole", "--set", "checkpoint_every=50")
    assert whole.code == app.DONE, whole.err
    rewards = [
        [row["metrics"].get("reward/mean") for row in read_rows(Path(folder, METRICS))]
        for folder in ("run", "whole")
    ]
    assert rewards[0] == rewards[1]
    assert len(rewards[0]) == 4


def test_a_late_reward_may_be_resumed_with_more_time(swarm) -> None:
    slow = 'import time\n        time.sleep(0 if pathlib.Path("quick").exists() else 60)\n        '
    limit = ("--set", "task.time_limit=0.5")
    done = swarm("train", slow + ZERO, "--out", "run", *limit)
    assert done.code == app.FAILED
    assert "did not return within 0.5 s on row " in done.err
    Path("quick").touch()
    more = ("--set", "task.time_limit=90")
    assert swarm("train", slow + ZERO, "--out", "run", "--resume", *more).code == app.DONE
