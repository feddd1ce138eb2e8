"""What a topic's model, data and evaluation become under the options of `start`: used, honoured by
an option, or refused with the option that would honour them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from autoresearch.study.intent import AskedFactor
from autoresearch.study.options import StartOptions
from autoresearch.topic.read import Reading
from autoresearch.topic.things import is_file, plain
from swarm import models, tasks
from swarm.config.base import JsonValue
from swarm.config.parts import HELD_OUT_REF, EvalSet
from swarm.config.paths import first_problem
from swarm.errors import Refusal
from swarm.tasks import absolute


@dataclass
class Course:
    """Fields of an intent, and notes for what the options answer in another way."""

    model: str | None = None
    task: str | None = None
    reward: str | None = None
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
    found.task = _task(named.tasks, options, found.notes)
    found.task = found.task or _data(named.data, options, found.notes)
    found.reward = _reward(named.rewards, options, found.notes)
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
    found.notes += [
        f"taken for what happened, not for a setting: {t}" for t in reading.circumstances.told
    ]
    if named.cited:
        found.notes.append(f"not read: {', '.join(named.cited)}")
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


def _task(named: Sequence[str], options: StartOptions, notes: list[str]) -> str | None:
    """The one built-in task that is named."""
    if len(named) > 1:
        raise Refusal(
            "topic",
            f"it names the tasks {' and '.join(named)}; a topic names one",
            "start a study for each, with --task",
        )
    notes += [
        f"the topic names the task {name}, --task {options.task} is used"
        for name in named
        if options.task is not None and name != options.task
    ]
    return named[0] if named else None


def _reward(named: Sequence[str], options: StartOptions, notes: list[str]) -> str | None:
    """The one reward of the user's own that is named."""
    if options.reward is not None:
        notes += [
            f"the topic names the reward {name}, --reward {options.reward} is used"
            for name in named
            if Path(name).name != Path(options.reward).name
        ]
        return None
    if len(named) > 1:
        raise Refusal(
            "topic",
            f"it names the rewards {' and '.join(named)}; a study trains on one",
            "start a study for each, with --reward",
        )
    return absolute(named[0], Path.cwd()) if named else None


def _data(named: Sequence[str], options: StartOptions, notes: list[str]) -> str | None:
    """The one source of training data that is named, where it is a file."""
    tested = " ".join(plain(each.ref) for each in options.evaluation or ())
    named = [name for name in named if plain(Path(name).stem) not in tested]
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
    ref = named[0] if "/" in named[0] else "FILE"
    raise Refusal(
        "topic", f"it names the data {named[0]}, which are not here", f"give them as --task {ref}"
    )


def _evaluation(reading: Reading, options: StartOptions, found: Course) -> None:
    """Fill the evaluation sets and the metric that are asked for."""
    said, tested = reading.circumstances.measured, reading.things.tested
    if len({k for _, k in said.at_k}) > 1:
        several = " and ".join(f"{how}@{k}" for how, k in said.at_k)
        raise Refusal(
            "topic",
            f"it names {several}, and an evaluation draws one k",
            "ask for avg@k and pass@k of one k",
        )
    k = max((k for _, k in said.at_k), default=1)
    if options.evaluation is not None:
        given = " ".join(plain(each.ref) for each in options.evaluation)
        found.notes += [
            f"the topic names {name}, --eval {options.evaluation[0].ref} is evaluated on"
            for name in tested
            if plain(Path(name).stem) not in given
        ]
        first = options.evaluation[0]
        asked = {
            "k": k if said.at_k else None,
            "temperature": said.temperature,
            "prompts": said.prompts,
        }
        for name, value in asked.items():
            if value is not None and value != getattr(first, name):
                raise Refusal(
                    "topic",
                    f"it asks for an evaluation with {name} {value:g}, and --eval has "
                    f"{getattr(first, name)}",
                    f"write --eval {first.ref},{name}={value:g}",
                )
    else:
        for name in tested:
            if not is_file(name) and name not in tasks.names():
                raise Refusal(
                    "topic",
                    f"it names {name} to evaluate on, which is not here",
                    "give it as --eval FILE",
                )
        refs = [absolute(name, Path.cwd()) for name in tested]
        said_of_sets = {"temperature": said.temperature, "prompts": said.prompts}
        settings = {name: value for name, value in said_of_sets.items() if value is not None}
        if not refs and (k > 1 or settings):
            refs = [HELD_OUT_REF]
        try:
            found.evaluation = tuple(
                EvalSet.model_validate({"ref": ref, "k": k, **settings}) for ref in refs
            )
        except ValidationError as error:
            raise Refusal("topic", first_problem(error), "ask for another evaluation") from None
    if said.at_k:
        how, most = said.at_k[0]
        sets = options.evaluation or found.evaluation
        found.metric = f"eval/{sets[0].title}/{how}@{most}" if sets else "eval/acc"
        found.notes += [
            f"the hypothesis is on {how}@{most}; {other}@{most} is logged beside it"
            for other, _ in said.at_k[1:]
        ]


def refuse_too_long(model: str, lengths: Sequence[JsonValue]) -> None:
    """Raise Refusal for answers that leave no place for a prompt in the model's context."""
    folder = models.folder(model)
    config = folder / "config.json" if folder else None
    if config is None or not config.is_file():
        return
    context = json.loads(config.read_text(encoding="utf-8")).get("max_position_embeddings")
    for length in lengths:
        if isinstance(context, int) and isinstance(length, int) and length >= context:
            raise Refusal(
                "topic",
                f"answers of {length} tokens do not fit {model}, whose context is {context}",
                "ask for fewer tokens, or give a model with a longer context: --model",
            )
