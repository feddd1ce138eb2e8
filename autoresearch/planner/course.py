"""What a topic's model, data and evaluation become under the options of `start`: used, honoured by
an option, or refused with the option that would honour them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autoresearch.study.intent import AskedFactor
from autoresearch.study.options import StartOptions
from autoresearch.topic.read import Reading
from autoresearch.topic.things import is_file, plain
from swarm import models
from swarm.config.base import JsonValue
from swarm.config.parts import EvalSet
from swarm.errors import Refusal
from swarm.tasks import absolute

#: The ref of the task's own held-out prompts.
HELD_OUT = "held-out"


@dataclass
class Course:
    """Fields of an intent, and notes for what the options answer in another way."""

    model: str | None = None
    task: str | None = None
    evaluation: tuple[EvalSet, ...] = ()
    metric: str | None = None
    factors: tuple[AskedFactor, ...] = ()
    held: dict[str, JsonValue] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def course(reading: Reading, options: StartOptions) -> Course:
    """The course of a study. Raises Refusal for a model, data, hardware or an evaluation that the
    topic names and no option brings."""
    found = Course()
    named = reading.things
    found.model = _model(named.models, options, found.notes)
    found.task = named.task or _data(named.data, options, found.notes)
    if named.task and options.task and named.task != options.task:
        found.notes.append(f"the topic names the task {named.task}, --task {options.task} is used")
    _evaluation(reading, options, found)
    for hardware in named.hardware:
        if options.ray_address is None:
            raise Refusal(
                "topic",
                f"it names hardware ({hardware}), and a study runs where Ray does",
                "leave it out, and name the cluster: --ray-address",
            )
        found.notes.append(f"hardware is what {options.ray_address} has, not {hardware}")
    found.notes += [
        f"the trainer is swarm; {library} is not used" for library in dict.fromkeys(named.libraries)
    ]
    said = reading.circumstances
    if len(said.precisions) > 1:
        found.factors = (AskedFactor(name="model.dtype", levels=said.precisions),)
    elif said.precisions:
        found.held["model.dtype"] = said.precisions[0]
    if said.max_tokens is not None:
        found.held["max_length"] = said.max_tokens
    return found


def _model(named: Sequence[str], options: StartOptions, notes: list[str]) -> str | None:
    """The one model that is named, where it can be had by that name."""
    if len(named) > 1:
        raise Refusal(
            "topic",
            f"it names {' and '.join(named)}; a study trains one model",
            "start a study for each, with --model",
        )
    if not named:
        return None
    (name,) = named
    if options.model is not None:
        if plain(name) not in plain(options.model):
            notes.append(f"the topic names {name}, --model {options.model} is studied")
        return None
    if name in models.names() or "/" in name:
        return name
    raise Refusal(
        "topic",
        f"it names the model {name}, which is not here by that name",
        "give it as --model FOLDER or --model ORG/NAME; see: autoresearch model list",
    )


def _data(named: Sequence[str], options: StartOptions, notes: list[str]) -> str | None:
    """The one source of training data that is named, where it is a file."""
    if options.task is not None:
        notes += [
            f"the topic names {name}, --task {options.task} is trained on"
            for name in named
            if plain(Path(name).stem) not in plain(options.task)
        ]
        return None
    if len(named) > 1:
        raise Refusal(
            "topic",
            f"it names {' and '.join(named)}; a study trains on one task",
            "give one by --task, or a mixture by --task mixture and --set task.sources…",
        )
    if not named:
        return None
    if is_file(named[0]):
        return absolute(named[0], Path.cwd())
    raise Refusal(
        "topic", f"it names the data {named[0]}, which are not here", "give them as --task FILE"
    )


def _evaluation(reading: Reading, options: StartOptions, found: Course) -> None:
    """Fill the evaluation sets and the metric that are asked for."""
    said, tested = reading.circumstances, reading.things.tested
    k = max((k for _, k in said.at_k), default=1)
    if options.evaluation is not None:
        given = " ".join(plain(each.ref) for each in options.evaluation)
        found.notes += [
            f"the topic names {name}, --eval {options.evaluation[0].ref} is evaluated on"
            for name in tested
            if plain(Path(name).stem) not in given
        ]
        first = options.evaluation[0]
        if said.at_k and k > first.k:
            raise Refusal(
                "topic",
                f"it asks for @{k}, --eval draws {first.k}",
                f"write --eval {first.ref},k={k}",
            )
    else:
        for name in tested:
            if not is_file(name):
                raise Refusal(
                    "topic",
                    f"it names {name} to evaluate on, which is not here",
                    "give it as --eval FILE",
                )
        refs = [absolute(name, Path.cwd()) for name in tested]
        if not refs and (k > 1 or said.temperature is not None):
            refs = [HELD_OUT]
        warm = {} if said.temperature is None else {"temperature": said.temperature}
        found.evaluation = tuple(EvalSet(ref=ref, k=k, **warm) for ref in refs)
    if said.at_k:
        how, most = max(said.at_k, key=lambda pair: pair[1])
        sets = options.evaluation or found.evaluation
        found.metric = f"eval/{sets[0].title}/{how}@{most}" if sets else "eval/acc"
