"""A defect in any layer of either command is one line that names the file with its traceback.

Each case makes one function of the product raise what nobody foresees, and types the command that
comes by it. What is found in the last place by a user must not be a traceback.
"""

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.commands import Said
from support.plans import TOPIC
from support.refused import CONFIG
from support.stubbed_trials import StubbedTrials

import autoresearch.cli.app
import swarm.cli.app
from autoresearch.execute import projector
from autoresearch.run import context, study
from swarm import models

MAIN = {"autoresearch": autoresearch.cli.app.main, "swarm": swarm.cli.app.main}


class Defect(Exception):
    """What nobody foresees."""


def broken(*_: Any, **__: Any) -> Any:
    raise Defect("in a seam")


#: By layer of the trainer, the function that breaks and the command that comes by it.
SWARM = {
    "settings": ("swarm.cli.actions.read_file", "train"),
    "yaml": ("swarm.cli.config_file.read_yaml", "sft"),
    "command": ("swarm.cli.actions.steps_shown", "train"),
    "task": ("swarm.tasks.load_own", "eval"),
    "rows": ("swarm.tasks.own_rows.row", "train"),
    "model": ("swarm.train.run.load_proven", "train"),
    "model of an evaluation": ("swarm.train.evaluate.load_proven", "eval"),
    "engine": ("swarm.engine.torch_engine.TorchEngine.sample", "train"),
    "engine of an evaluation": ("swarm.engine.torch_engine.TorchEngine.sample", "eval"),
    "rollout": ("swarm.train.run.roll_out", "train"),
    "dataflow": ("swarm.train.run.draw_batch", "train"),
    "demonstrations": ("swarm.train.run.supervised_batch", "sft"),
    "recipe": ("swarm.learn.recipe.Recipe.reinforce", "train"),
    "learner": ("swarm.learn.learner.Learner.reinforce", "train"),
    "loss": ("swarm.learn.learner.policy_loss", "train"),
    "policy": ("swarm.policy.policy.Policy.snapshot", "train"),
    "metrics": ("swarm.train.metrics.of_batch", "train"),
    "alarms": ("swarm.train.raised.seen", "train"),
    "disk": ("swarm.disk.folder.RunWriter.metrics", "train"),
    "seal": ("swarm.disk.folder.RunWriter.seal", "train"),
    "checkpoint": ("swarm.policy.checkpoint.save", "train"),
    "export": ("swarm.train.run.export", "train"),
    "evaluation": ("swarm.train.evaluate._counted", "eval"),
    "screen": ("swarm.cli.console.line", "train"),
}

#: The same of the researcher, before and after it runs a study.
COMMANDS = {
    "home": ("autoresearch.study.home.Home.locate", "status"),
    "ledger": ("autoresearch.study.ledger.Ledger.open", "list"),
    "facts": ("autoresearch.study.ledger.Ledger.studies", "status"),
    "topic": ("autoresearch.planner.offline.read", "start"),
    "planner": ("autoresearch.planner.planning.plan_study", "start"),
    "playbook": ("autoresearch.playbook.library.validate", "playbook list"),
    "lint": ("autoresearch.cli.playbook.problems_of", "playbook lint group-size"),
    "models": ("autoresearch.cli.model._row", "model list"),
    "doctor": ("autoresearch.cli.doctor._checks", "doctor"),
    "new study": ("autoresearch.run.study.new_study", "start"),
    "screen": ("autoresearch.cli.screen.noise_to", "start"),
    "lease": ("autoresearch.study.ledger.Ledger.hold", "start"),
}

#: And while it runs one.
STUDY = {
    "model": "swarm.models.ensure",
    "cluster": "autoresearch.run.study._machines",
    "graph": "autoresearch.run.graph._build",
    "register": "autoresearch.study.ledger.Ledger.register",
    "runner": "autoresearch.run.context.run_trials",
    "pilot": "autoresearch.run.stages.at_the_floor",
    "sizing": "autoresearch.run.stages.sizing.size",
    "tuning": "autoresearch.run.stages.tuning_phase.tune",
    "verdicts": "autoresearch.run.stages.should_stop",
    "report": "autoresearch.report.build",
    "verify": "autoresearch.report.verify",
    "findings": "autoresearch.study.ledger.Ledger.add_finding",
}


@pytest.fixture
def type_(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture
) -> Iterator[Any]:
    """`type_("swarm", "train", "c.yaml")` in a folder and home of its own."""
    logs = tmp_path / "logs"
    logs.mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AUTORESEARCH_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(tempfile, "tempdir", str(logs))
    Path("c.yaml").write_text(f"{CONFIG}checkpoint_every: 1\n")
    rows = [{"prompt": f"R:{a}{b}>", "answer": b + a} for a in "abcdefgh" for b in "abcdefgh"]
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def command(*words: str) -> Said:
        monkeypatch.setattr(sys, "argv", list(words))
        capfd.readouterr()
        with pytest.raises(SystemExit) as end:
            MAIN[words[0]]()
        said = capfd.readouterr()
        return Said(int(end.value.code or 0), said.out, said.err)

    return command


def kept() -> Path:
    """The only report there is; it has the traceback of the defect."""
    (log,) = Path("logs").resolve().glob("*-bug-*.log")
    text = log.read_text()
    assert "Traceback (most recent call last)" in text
    assert "Defect: in a seam" in text
    assert ", in broken" in text
    return log


def assert_a_bug_report(said: Said) -> None:
    log = kept()
    step = f"report it as an issue of the project, with {log}"
    *others, line = said.err.splitlines()
    assert (said.code, line) == (1, f"error: bug: Defect: in a seam; {step}")
    assert not [other for other in others if "Traceback" in other]
    error = {"field": "bug", "problem": "Defect: in a seam", "next_step": step}
    assert said.document == {"error": error, "exit": 1}


@pytest.mark.parametrize("layer", SWARM)
def test_a_defect_of_the_trainer(layer: str, type_: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    place, verb = SWARM[layer]
    monkeypatch.setattr(place, broken)
    own = ["--set", "task.args={}", "--set", "task.ref=rows.jsonl"]
    out = [] if verb == "eval" else ["--out", "run"]
    # with --json there is no screen
    plain = layer == "screen"
    said = type_("swarm", verb, "c.yaml", *own, *out, *([] if plain else ["--json"]))
    if plain:
        assert (said.code, said.err.count("\n")) == (1, 1)
        assert str(kept()) in said.err
        return
    assert_a_bug_report(said)


@pytest.mark.parametrize("layer", COMMANDS)
def test_a_defect_of_a_command(layer: str, type_: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    place, words = COMMANDS[layer]
    monkeypatch.setattr(place, broken)
    topic = [TOPIC, "--profile", "smoke"] if words == "start" else []
    assert_a_bug_report(type_("autoresearch", *words.split(), *topic, "--json"))


@pytest.fixture
def no_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trials end at once in this process; MLflow, which has a thread of its own, is broken."""

    @contextmanager
    def none(*_: Any) -> Iterator[None]:
        yield None

    monkeypatch.setattr(study, "_machines", none)
    monkeypatch.setattr(context, "run_trials", StubbedTrials())
    monkeypatch.setattr(models, "ensure", lambda ref, progress=None: Path())
    monkeypatch.setattr(projector, "MlflowStudy", broken)


@pytest.mark.parametrize("layer", STUDY)
def test_a_defect_within_a_study(
    layer: str, type_: Any, no_machines: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The study has failed, says where the report is, and can be resumed."""
    monkeypatch.setattr(STUDY[layer], broken)
    said = type_("autoresearch", "start", TOPIC, "--profile", "smoke", "--json")
    document = said.document
    assert (said.code, said.err, document["status"]) == (1, "", "failed")
    assert document["cause"].startswith("bug: Defect: in a seam; report it as an issue")
    assert document["cause"].endswith(str(kept()))


def test_a_defect_of_a_sink_does_not_end_a_study(type_: Any, no_machines: None) -> None:
    said = type_("autoresearch", "start", TOPIC, "--profile", "smoke", "--json")
    assert (said.code, said.document["status"]) == (0, "done")
