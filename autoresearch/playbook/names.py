"""Names that a playbook uses: factors, levels, metrics, tasks, TrainConfig paths, parameters."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from autoresearch.catalogue import FACTORS, CatalogueFactor, PathFactor, factor
from autoresearch.playbook import Library, MalformedPlaybook, Playbook, Problem
from autoresearch.playbook.document import Document, read
from autoresearch.study.metrics import METRICS
from autoresearch.study.plan import repeated
from swarm.config.base import JsonValue
from swarm.config.checked import check_path
from swarm.errors import Refusal, did_you_mean

Place = tuple[str | int, ...]
_PARAMETER = re.compile(r"\$\{([^}]*)\}")


def checked(library: Library, ref: str) -> Playbook:
    """The playbook of an id or a file, its names checked.

    Raises Refusal for an unknown one and MalformedPlaybook, with line and code, for a broken one.
    """
    playbook = library.load(ref)
    found = [*references(playbook)]
    if found:
        path = library.path(ref)
        raise MalformedPlaybook(path, placed(read(path), found))
    return playbook


def placed(document: Document, problems: Iterable[Problem]) -> list[Problem]:
    """Problems with their lines, in line order, each once."""
    lined = [replace(problem, line=document.line(problem.at)) for problem in problems]
    return sorted(dict.fromkeys(lined), key=lambda problem: (problem.line, problem.code))


def references(playbook: Playbook) -> Iterator[Problem]:
    """A problem for every unknown name and every value that is not a level of its factor."""
    yield from _factors(playbook)
    yield from _hypotheses(playbook)
    yield from _metrics(playbook)
    yield from _tasks(playbook)
    yield from _settings(playbook)


def _factors(playbook: Playbook) -> Iterator[Problem]:
    for i, listed in enumerate(playbook.factors):
        at: Place = ("factors", i)
        try:
            known = factor(listed.name)
        except Refusal as error:
            text = f"unknown factor {listed.name!r}; {error.next_step}"
            yield Problem("PB101", text, at=(*at, "name"))
            continue
        levels = listed.levels or known.levels
        if len(levels) < 2:
            text = f"{listed.name} has no usual levels: list two or more"
            yield Problem("PB106", text, at=(*at, "name"))
            continue
        for j, level in enumerate(levels):
            yield from _level(known, level, (*at, "levels", j))
        if twice := repeated(levels):
            text = f"{listed.name}: level {twice[0]!r} is listed twice"
            yield Problem("PB202", text, at=(*at, "levels"))
        control = _control(known, levels) if listed.control is None else listed.control
        if control not in levels:
            text = f"{listed.name}: control {control!r} is not among its levels"
            yield Problem("PB202", text, at=(*at, "control"))
    if twice := repeated(listed.name for listed in playbook.factors):
        yield Problem("PB202", f"{twice[0]} is listed twice", at=("factors",))
    for i, names in enumerate(playbook.match.factors):
        for name in names:
            if name not in FACTORS and name not in {listed.name for listed in playbook.factors}:
                yield _unknown("PB101", "factor", name, FACTORS, ("match", "factors", i))
    if playbook.tuning and playbook.tuning.factor not in FACTORS:
        yield _unknown("PB101", "factor", playbook.tuning.factor, FACTORS, ("tuning", "factor"))
    elif playbook.tuning:
        tuned = FACTORS[playbook.tuning.factor]
        if tuned.kind != "float" or len(tuned.sets) != 1:
            text = f"{tuned.name} cannot be tuned: it is not a continuous setting"
            yield Problem("PB109", text, at=("tuning", "factor"))
        else:
            yield from _level(tuned, playbook.tuning.low, ("tuning", "low"))
            yield from _level(tuned, playbook.tuning.high, ("tuning", "high"))


def _control(known: CatalogueFactor, levels: Sequence[JsonValue]) -> JsonValue:
    """The catalogue's control; of a path of the user's own the first level."""
    return levels[0] if isinstance(known, PathFactor) else known.control


def _level(known: CatalogueFactor, level: JsonValue, at: Place) -> Iterator[Problem]:
    try:
        known.check(level)
    except Refusal as error:
        yield Problem("PB106", f"{known.name}: {error.problem}; {error.next_step}", at=at)


def _hypotheses(playbook: Playbook) -> Iterator[Problem]:
    """Arms that no combination of the playbook's levels makes."""
    levels = {
        f.name: f.levels or (FACTORS[f.name].levels if f.name in FACTORS else ())
        for f in playbook.factors
    }
    for i, spec in enumerate(playbook.hypotheses):
        for key, named in (("arm", spec.arm or {}), ("versus", spec.versus)):
            for name, level in named.items():
                at = ("hypotheses", i, key, name)
                if name not in levels:
                    text = f"{name} is not among this playbook's factors"
                    yield Problem("PB107", text, at=at)
                elif level not in levels[name]:
                    yield Problem("PB107", f"{level!r} is not a level of {name} here", at=at)


def _metrics(playbook: Playbook) -> Iterator[Problem]:
    named: list[tuple[Place, str]] = [(("primary", "metric"), playbook.primary.metric)]
    named += [(("metrics", i), name) for i, name in enumerate(playbook.metrics)]
    claims = enumerate(playbook.hypotheses)
    named += [(("hypotheses", i, "metric"), spec.metric) for i, spec in claims if spec.metric]
    for at, name in named:
        if name not in METRICS:
            yield _unknown("PB102", "metric", name, METRICS, at)
    primary = METRICS.get(playbook.primary.metric)
    if primary and (playbook.primary.min_effect or primary.min_effect) is None:
        text = f"{primary.name} needs a min_effect: the smallest effect of interest"
        yield Problem("PB203", text, at=("primary",))


def _tasks(playbook: Playbook) -> Iterator[Problem]:
    from swarm.tasks import names

    named: list[tuple[Place, str]] = [(("tasks", i), t) for i, t in enumerate(playbook.tasks)]
    named += [(("task_settings", task), task) for task in playbook.task_settings]
    for profile, settings in playbook.profiles.items():
        listed = enumerate(settings.tasks or ())
        named += [(("profiles", profile, "tasks", i), task) for i, task in listed]
    for at, name in named:
        if name not in names():
            yield _unknown("PB103", "task", name, names(), at)


def _settings(playbook: Playbook) -> Iterator[Problem]:
    """TrainConfig paths that do not exist, and parameters that are not declared."""
    groups: list[tuple[Place, Mapping[str, JsonValue]]] = [(("train",), playbook.train)]
    groups += [(("profiles", name, "train"), p.train) for name, p in playbook.profiles.items()]
    groups += [(("task_settings", task), paths) for task, paths in playbook.task_settings.items()]
    for place, paths in groups:
        for path, value in paths.items():
            at = (*place, path)
            try:
                check_path(path, "train")
            except Refusal as error:
                yield Problem("PB105", f"{error.problem}; {error.next_step}", at=at)
            match = _PARAMETER.fullmatch(value) if isinstance(value, str) else None
            if match and match[1] not in playbook.params:
                yield _unknown("PB108", "parameter", match[1], playbook.params, at)


def _unknown(code: str, kind: str, name: str, known: Iterable[str], at: Place) -> Problem:
    return Problem(code, f"unknown {kind} {name!r}; {did_you_mean(name, known)}", at=at)
