"""Tasks, built in or the user's own. Train and evaluation prompts are disjoint by their hash."""

import ast
import hashlib
import inspect
import os
from collections.abc import Collection
from importlib import import_module
from types import MappingProxyType, ModuleType

from swarm.config.parts import Source, TaskSettings
from swarm.errors import BadTask, Refusal, did_you_mean
from swarm.tasks import (
    asking,
    calling,
    checkers,
    data_files,
    hub,
    judges,
    layouts,
    likeness,
    math_check,
    math_child,
    mixed,
    own,
    own_rows,
    signatures,
    tables,
    task_family,
)
from swarm.tasks import code as code_of_user
from swarm.tasks.builtin import BuiltIn, levels_of
from swarm.tasks.checkers import CHECKERS
from swarm.tasks.likeness import Overlap as Overlap
from swarm.tasks.likeness import overlap as overlap
from swarm.tasks.mixed import Mixture, of_source
from swarm.tasks.own import Sides, Use, load_own
from swarm.tasks.refs import MIXTURE as MIXTURE
from swarm.tasks.refs import OWN_REWARD, code_ref, own_ref
from swarm.tasks.refs import absolute as absolute
from swarm.tasks.task import Answer as Answer
from swarm.tasks.task import Score as Score
from swarm.tasks.task import Task as Task
from swarm.tasks.task_family import Problem as Problem
from swarm.tasks.task_family import TaskFamily

#: The built-in families, as "module:class" below this package. `CONTRIBUTING.md` adds one.
_CLASSES = (
    "strings:Reverse",
    "strings:Sort",
    "chain:Chain",
    "strings:Order",
)

#: What reads the user's rows and asks the user's functions.
_JUDGING = (
    judges,
    own,
    own_rows,
    code_of_user,
    calling,
    asking,
    checkers,
    data_files,
    hub,
    layouts,
    likeness,
    math_check,
    math_child,
    mixed,
    signatures,
    tables,
)

#: What rows offer by name.
ROW_REWARDS = ("exact", *CHECKERS)


def _family(named: str) -> TaskFamily:
    module, _, kind = named.partition(":")
    family: TaskFamily = getattr(import_module(f"swarm.tasks.{module}"), kind)()
    return family


FAMILIES: MappingProxyType[str, TaskFamily] = MappingProxyType(
    {family.name: family for family in map(_family, _CLASSES)}
)


def load(settings: TaskSettings, use: Use = "both") -> Task:
    """The task of these settings; with `use` all of the user's rows are trained or evaluated on.
    Raises BadTask for one that cannot be used, and where the user's files are no longer those of
    `settings.digest`."""
    if settings.ref == MIXTURE:
        task: Task = _mixture(settings, use)
    elif settings.sources:
        raise BadTask(
            f"{settings.ref!r} is one task, and task.sources names others",
            f"set task.ref to {MIXTURE}, or leave them out",
            "task.sources",
        )
    else:
        task = _single(settings, {}, use)
    if settings.digest and task.digest != settings.digest:
        raise BadTask(
            f"{settings.ref} is not what was registered "
            f"(sha256 {settings.digest[:12]}, now {task.digest[:12]})",
            "bring the files back, or start anew",
            "task.digest",
        )
    return task


def _single(settings: TaskSettings, sides: Sides, use: Use) -> Task:
    """A task that is no mixture; `sides` as in `load_own`."""
    if not offers(settings.ref, settings.reward):
        known = rewards(settings.ref)
        raise BadTask(
            f"{settings.reward!r} is unknown", did_you_mean(settings.reward, known), "task.reward"
        )
    ref = own_ref(settings.ref)
    if ref is not None:
        return load_own(ref, settings, sides, use)
    builtin = family(settings.ref)
    for name in ("columns", "split"):
        if getattr(settings, name):
            problem = f"{settings.ref} makes its own prompts"
            raise BadTask(problem, "leave it out", f"task.{name}")
    if settings.template:
        raise BadTask(
            f"{settings.ref} is asked in raw text, without the chat template",
            "leave its arguments out",
            f"task.template.{sorted(settings.template)[0]}",
        )
    return BuiltIn(builtin, levels_of(builtin, settings.args), settings.reward)


def _mixture(settings: TaskSettings, use: Use) -> Mixture:
    """The sources of a mixture. A prompt is on one side of the split in all of them."""
    if not any(source.weight > 0 for source in settings.sources.values()):
        problem = "none has a weight above 0" if settings.sources else "a mixture needs some"
        raise BadTask(problem, "write them as {math: {ref: a.jsonl, weight: 2}, …}", "task.sources")
    for name in ("args", "columns", "split"):
        if getattr(settings, name):
            problem = "each source of a mixture has its own"
            raise BadTask(problem, f"set task.sources.NAME.{name}", f"task.{name}")
    sides: Sides = {}
    found = {}
    for name, source in settings.sources.items():
        try:
            found[name] = _single(_settings_of(source, settings), sides, use)
        except Refusal as error:
            raise of_source(name, error) from error
    return Mixture(found, {name: source.weight for name, source in settings.sources.items()})


def _settings_of(source: Source, settings: TaskSettings) -> TaskSettings:
    """A source as a task of its own. The template is the model's, and not asked of families."""
    own = own_ref(source.ref)
    reward = source.reward or (OWN_REWARD if own and own.function else settings.reward)
    return TaskSettings(
        ref=source.ref,
        reward=reward,
        args=source.args,
        columns=source.columns,
        split=source.split,
        template=settings.template if own else {},
        time_limit=settings.time_limit,
    )


def is_own(ref: str) -> bool:
    """Whether a ref names the user's files, or a mixture, whose sources may be."""
    return ref == MIXTURE or own_ref(ref) is not None


def names() -> tuple[str, ...]:
    """The built-in task families."""
    return tuple(FAMILIES)


def family(name: str) -> TaskFamily:
    """The family of this name. Raises BadTask that lists the known ones."""
    if name not in FAMILIES:
        known = ", ".join(FAMILIES)
        raise BadTask(
            f"{name!r} is unknown",
            f"give ./{name} to mean the folder"
            if os.path.isdir(name)  # noqa: PTH112 - of a name that no file can have, too
            else f"known: {known}, your data.jsonl or file.py:make",
            "task.ref",
        )
    return FAMILIES[name]


def rewards(ref: str) -> tuple[str, ...]:
    """The rewards that a task offers by name. A family has `exact` among them, rows have the
    checkers of their `answer`, and the user's code has `own`. See `offers`."""
    if ref == MIXTURE:
        return ROW_REWARDS
    ref_of_own = own_ref(ref)
    if ref_of_own is None:
        return family(ref).rewards
    return (OWN_REWARD,) if ref_of_own.function else ROW_REWARDS


def offers(ref: str, reward: str) -> bool:
    """Whether a task can be trained on this reward: one of `rewards`, or for rows a function of the
    user's, `file.py:name`."""
    known = rewards(ref)
    return reward in known or (known == ROW_REWARDS and code_ref(reward) is not None)


def evaluator_digest(ref: str) -> str:
    """sha256 of the code that makes a task's problems and judges its answers.

    A family's is its own: its class and those it builds on, what stands beside them in their files
    but for other classes, how prompts are drawn and held out, and how an answer is scored. Of the
    user's own task it is the code that reads rows and asks the user's functions; their files are in
    `Task.digest`. Of a mixture it is all of this.
    """
    if is_own(ref):
        code = [inspect.getsource(module) for module in _JUDGING]
        if ref == MIXTURE:  # any family may be a source
            code += [evaluator_digest(name) for name in FAMILIES]
    else:
        kinds = [kind for kind in type(family(ref)).__mro__ if kind is not object]
        files = dict.fromkeys(filter(None, map(inspect.getmodule, kinds)))
        names = {kind.__name__ for kind in kinds} | {Problem.__name__}
        code = [part for file in (*files, task_family) for part in _statements(file, names)]
        code += [inspect.getsource(f) for f in (BuiltIn.draw, BuiltIn.encode, BuiltIn.score)]
    return hashlib.sha256("\0".join(code).encode()).hexdigest()


def _statements(module: ModuleType, classes: Collection[str]) -> list[str]:
    """The statements of a module but for its docstring, imports and classes other than these."""
    source = inspect.getsource(module)
    left_out = (ast.Import, ast.ImportFrom, ast.Expr)
    return [
        ast.get_source_segment(source, node) or ""
        for node in ast.parse(source).body
        if not isinstance(node, left_out)
        and not (isinstance(node, ast.ClassDef) and node.name not in classes)
    ]
