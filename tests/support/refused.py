"""A command that is refused: its words, and what has to be there before."""

import json
import shlex
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any
from unittest.mock import patch

from support.plans import TOPIC

#: What is done in the working folder first; the result replaces words of the command.
Before = Callable[[], Mapping[str, str] | None]

ASK = f"autoresearch start '{TOPIC}' --dry-run"
TRAIN = "swarm train c.yaml --out run"
EVAL = "swarm eval c.yaml"

#: The config of every case, unless it brings its own.
CONFIG = """
steps: 2
task: {ref: reverse, args: {min: 3, max: 5}}
batch: {rollouts: 8, group_size: 4}
evaluation: {every: 2, prompts: 8}
"""


@dataclass(frozen=True)
class Case:
    """Words for a shell, files by name, steps before, and what stands in for the machine."""

    command: str
    files: Mapping[str, str | bytes]
    before: tuple[Before, ...]
    stands_in: Mapping[str, Any]

    def prepare(self) -> list[str]:
        """Write the files into the working folder, take the steps; return the words."""
        for name, text in {"c.yaml": CONFIG, **self.files}.items():
            path = Path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        words = shlex.split(self.command)
        for step in self.before:
            replaced = step() or {}
            words = [replaced.get(word, word) for word in words]
        return words

    def standing_in(self) -> ExitStack:
        """The stand-ins, as long as the block runs."""
        with ExitStack() as stack:
            for target, value in self.stands_in.items():
                stack.enter_context(patch(target, value))
            return stack.pop_all()


def case(
    command: str,
    files: Mapping[str, str | bytes] = MappingProxyType({}),
    *before: Before,
    stands_in: Mapping[str, Any] = MappingProxyType({}),
) -> Case:
    """A command as it is typed. In it, words of the results of `before` are replaced."""
    return Case(command, files, before, stands_in)


def by_module(cases: Mapping[str, Mapping[str, Case]]) -> dict[str, Case]:
    """The cases of `{module: {function: case}}` under `module:function`."""
    return {
        f"{module}:{name}": one for module, named in cases.items() for name, one in named.items()
    }


def own_planner(*factors: Mapping[str, object], changed: str = "{}", **fields: object) -> Case:
    """A planner of the user's own, which asks for these factors on top of `factor-sweep`; fields
    that are `changed` in the finished record are not checked by it."""
    text = f"""
from autoresearch.study.intent import AskedFactor, Intent
def plan(question):
    factors = tuple(AskedFactor(**asked) for asked in {list(factors)!r})
    fields = {{"playbook": "factor-sweep", **{fields!r}}}
    made = Intent(topic=question.options.topic, factors=factors, **fields)
    return made.model_copy(update={changed})
"""
    return case(f"{ASK} --planner mine.py:plan", {"mine.py": text})


def playbook(text: str, name: str = "mine", extends: str = "base") -> dict[str, str]:
    """`playbooks/mine.yaml`, with this text at its end."""
    head = f"schema: autoresearch/playbook/v1\nid: {name}\nextends: {extends}\ntitle: Mine\n"
    return {"playbooks/mine.yaml": f"{head}{text}\n"}


def task(made: str) -> Mapping[str, str]:
    """`mine.py:make`, a task that is whatever `made` says."""
    rows = "[{'prompt': f'R:{i}>', 'answer': str(i)} for i in range(99)]"
    return {
        "mine.py": "from types import SimpleNamespace as Made\n"
        f"def reward(completions, **_):\n    return [0.0] * len(completions)\nROWS = {rows}\n"
        f"def make():\n    return {made}\n"
    }


def rows(*values: object) -> Mapping[str, str]:
    """`rows.jsonl`; a text is a line as it is."""
    lines = [value if isinstance(value, str) else json.dumps(value) for value in values]
    return {"rows.jsonl": "\n".join(lines)}


def study() -> Mapping[str, str]:
    """A new study, of which nothing has run."""
    from autoresearch.run.study import new_study
    from autoresearch.study.home import Home
    from autoresearch.study.options import StartOptions
    from support.plans import plan_for

    options = StartOptions(topic=TOPIC, profile="smoke")
    return {"STUDY": new_study(Home(Path("home").resolve()), plan_for(profile="smoke"), options)}


def study_that(change: Callable[[Any, str], object]) -> Before:
    """A new study that `change(ledger, study)` has written to."""

    def begin() -> Mapping[str, str]:
        from autoresearch.study.home import Home
        from autoresearch.study.ledger import Ledger

        named = study()
        ledger = Ledger.open(Home(Path("home").resolve()))
        with ledger.hold(named["STUDY"]):
            change(ledger, named["STUDY"])
        ledger.close()
        return named

    return begin


def plan_file(**fields: Any) -> Before:
    """`plan.yaml` with these fields in the place of its own."""

    def write() -> None:
        from ruamel.yaml import YAML

        from support.plans import plan_for

        document = plan_for(profile="smoke").model_dump(mode="json") | fields
        YAML(typ="safe").dump(document, Path("plan.yaml"))

    return write


def run_folder(**values: Any) -> Before:
    """The folder `run` as it is after its first step, trained with these values."""

    def write() -> None:
        from swarm.cli.config_file import read_file
        from swarm.disk.run_config import write_config

        Path("run").mkdir(exist_ok=True)
        config = read_file(Path("c.yaml"), [])
        write_config(config.with_values(values), Path("run"))
        Path("run/metrics.jsonl").touch()

    return write


def llama(**changes: Any) -> Before:
    """The folder `model`, a random Llama whose config.json has these changes."""

    def write() -> None:
        from support.models import save_llama

        save_llama(Path("model"))
        for name in ("config.json", "generation_config.json"):
            path = Path("model", name)
            path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    return write


def adapter(*names: str, **settings: Any) -> Before:
    """The folder `adapter`, of rank 2, with tensors of these names, for layers of width 7."""

    def write() -> None:
        import torch
        from safetensors.torch import save_file

        Path("adapter").mkdir()
        config = {"peft_type": "LORA", "r": 2, "lora_alpha": 4, **settings}
        Path("adapter/adapter_config.json").write_text(json.dumps(config))
        sizes = {"A": (2, 7), "B": (7, 2)}
        tensors = {f"{name}.weight": torch.zeros(sizes[name[-1]]) for name in names}
        save_file(tensors, "adapter/adapter_model.safetensors")

    return write
