"""Tasks, built in or the user's own. Train and evaluation prompts are disjoint by their hash."""

import ast
import hashlib
import inspect
from collections.abc import Collection
from importlib import import_module
from types import MappingProxyType, ModuleType

from swarm.config.parts import TaskSettings
from swarm.errors import BadTask, did_you_mean
from swarm.tasks import calling, judges, own, own_rows, task_family
from swarm.tasks import code as code_of_user
from swarm.tasks.builtin import BuiltIn, levels_of
from swarm.tasks.own import load_own
from swarm.tasks.refs import OWN_REWARD, own_ref
from swarm.tasks.refs import absolute as absolute
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
_JUDGING = (judges, own, own_rows, code_of_user, calling)


def _family(named: str) -> TaskFamily:
    module, _, kind = named.partition(":")
    family: TaskFamily = getattr(import_module(f"swarm.tasks.{module}"), kind)()
    return family


FAMILIES: MappingProxyType[str, TaskFamily] = MappingProxyType(
    {family.name: family for family in map(_family, _CLASSES)}
)


def load(settings: TaskSettings) -> Task:
    """The task of these settings. Raises BadTask for one that cannot be used, and where the user's
    files are no longer those of `settings.digest`."""
    known = rewards(settings.ref)
    if settings.reward not in known:
        raise BadTask(
            f"{settings.reward!r} is unknown", did_you_mean(settings.reward, known), "task.reward"
        )
    ref = own_ref(settings.ref)
    if ref is None:
        builtin = family(settings.ref)
        if settings.template:
            raise BadTask(
                f"{settings.ref} is asked in raw text, without the chat template",
                "leave its arguments out",
                f"task.template.{sorted(settings.template)[0]}",
            )
        return BuiltIn(builtin, levels_of(builtin, settings.args), settings.reward)
    task = load_own(ref, settings.args, settings.template, settings.seconds)
    if settings.digest and task.digest != settings.digest:
        raise BadTask(
            f"{ref.path} is not what was registered "
            f"(sha256 {settings.digest[:12]}, now {task.digest[:12]})",
            "bring the files back, or start anew",
            "task.digest",
        )
    return task


def is_own(ref: str) -> bool:
    """Whether a ref names the user's files."""
    return own_ref(ref) is not None


def names() -> tuple[str, ...]:
    """The built-in task families."""
    return tuple(FAMILIES)


def family(name: str) -> TaskFamily:
    """The family of this name. Raises BadTask that lists the known ones."""
    if name not in FAMILIES:
        known = ", ".join(FAMILIES)
        raise BadTask(
            f"{name!r} is unknown", f"known: {known}, your data.jsonl or file.py:make", "task.ref"
        )
    return FAMILIES[name]


def rewards(ref: str) -> tuple[str, ...]:
    """The rewards that a task offers. A family has `exact` among them, rows alone have nothing
    else, and the user's code has `own`."""
    ref_of_own = own_ref(ref)
    if ref_of_own is None:
        return family(ref).rewards
    return (OWN_REWARD,) if ref_of_own.function else ("exact",)


def evaluator_digest(ref: str) -> str:
    """sha256 of the code that makes a task's problems and judges its answers.

    A family's is its own: its class and those it builds on, what stands beside them in their files
    but for other classes, how prompts are drawn and held out, and how an answer is scored. Of the
    user's own task it is the code that reads rows and asks the user's functions; their files are in
    `Task.digest`.
    """
    if is_own(ref):
        code = [inspect.getsource(module) for module in _JUDGING]
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
