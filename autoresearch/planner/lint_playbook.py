"""What is wrong with a playbook file: its text, its names, and the plans that it makes."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from autoresearch.planner.catalogue import FACTORS, CatalogueFactor
from autoresearch.planner.compose import TOLERANCE, compose
from autoresearch.planner.estimate import REFERENCE_CORES, study_seconds
from autoresearch.planner.hypotheses import question
from autoresearch.planner.lint import review
from autoresearch.planner.metrics import METRICS
from autoresearch.planner.options import StartOptions
from autoresearch.planner.reading import Named, Reading
from autoresearch.planner.sensitivity import sensitivity
from autoresearch.planner.settings import check_path
from autoresearch.playbook import Library, MalformedPlaybook, Playbook, Problem
from autoresearch.playbook.document import read
from autoresearch.playbook.suggest import did_you_mean
from autoresearch.playbook.validate import validate
from autoresearch.study.errors import BadInput
from autoresearch.study.plan import Plan, Profile
from swarm.config import JsonValue

Place = tuple[str | int, ...]
_PARAMETER = re.compile(r"\$\{([^}]*)\}")
#: What fills a playbook that leaves its factors to the topic.
_SAMPLE = "learning_rate"


def lint(path: Path, library: Library | None = None) -> list[Problem]:
    """Every problem of a playbook file with its line, in line order; empty when clean.

    Names are checked before plans are made, so that one slip is reported once.
    """
    library = library or Library.locate(path.resolve().parent.parent)
    try:
        document = read(path)
        playbook = validate(document, library.merged(document))
    except MalformedPlaybook as error:
        return error.problems
    found = [*_references(playbook)]
    if not found and not playbook.abstract:
        found = [*_plans(playbook)]
    placed = [replace(problem, line=document.line(problem.at)) for problem in found]
    return sorted(dict.fromkeys(placed), key=lambda problem: (problem.line, problem.code))


def own_plan(playbook: Playbook, profile: Profile) -> Plan:
    """The plan of a playbook's own question. Raises BadInput as `compose` does."""
    sample = () if playbook.factors else (Named(_SAMPLE),)
    topic = playbook.question or playbook.title
    reading = Reading(topic=topic, words=(), treatments=sample)
    return compose(playbook, reading, StartOptions(topic=topic, profile=profile))


def _references(playbook: Playbook) -> Iterator[Problem]:
    yield from _factors(playbook)
    yield from _hypotheses(playbook)
    yield from _metrics(playbook)
    yield from _tasks(playbook)
    yield from _settings(playbook)


def _factors(playbook: Playbook) -> Iterator[Problem]:
    for i, listed in enumerate(playbook.factors):
        at: Place = ("factors", i)
        if listed.name not in FACTORS:
            yield _unknown("PB101", "factor", listed.name, FACTORS, (*at, "name"))
            continue
        known = FACTORS[listed.name]
        levels = listed.levels or known.levels
        for j, level in enumerate(levels):
            yield from _level(known, level, (*at, "levels", j))
        control = known.control if listed.control is None else listed.control
        if control not in levels:
            text = f"{listed.name}: control {control!r} is not among its levels"
            yield Problem("PB202", text, at=(*at, "control"))
    for i, names in enumerate(playbook.match.factors):
        for name in names:
            if name not in FACTORS:
                yield _unknown("PB101", "factor", name, FACTORS, ("match", "factors", i))
    if playbook.tuning and playbook.tuning.factor not in FACTORS:
        yield _unknown("PB101", "factor", playbook.tuning.factor, FACTORS, ("tuning", "factor"))
    elif playbook.tuning:
        tuned = FACTORS[playbook.tuning.factor]
        if tuned.kind != "float":
            text = f"{tuned.name} is no continuous setting that could be tuned"
            yield Problem("PB109", text, at=("tuning", "factor"))
        else:
            yield from _level(tuned, playbook.tuning.low, ("tuning", "low"))
            yield from _level(tuned, playbook.tuning.high, ("tuning", "high"))


def _level(known: CatalogueFactor, level: JsonValue, at: Place) -> Iterator[Problem]:
    try:
        known.check(level)
    except BadInput as error:
        yield Problem("PB106", f"{known.name}: {error.problem}; {error.next_step}", at=at)


def _hypotheses(playbook: Playbook) -> Iterator[Problem]:
    """Arms that no combination of the playbook's levels makes."""
    levels = {
        f.name: f.levels or (FACTORS[f.name].levels if f.name in FACTORS else ())
        for f in playbook.factors
    }
    for i, spec in enumerate(playbook.hypotheses):
        for key, named in (("arm", spec.arm or {}), ("versus", spec.versus)):
            for factor, level in named.items():
                at = ("hypotheses", i, key, factor)
                if factor not in levels:
                    text = f"{factor} is not among this playbook's factors"
                    yield Problem("PB107", text, at=at)
                elif level not in levels[factor]:
                    yield Problem("PB107", f"{level!r} is no level of {factor} here", at=at)


def _metrics(playbook: Playbook) -> Iterator[Problem]:
    named: list[tuple[Place, str]] = [(("primary", "metric"), playbook.primary.metric)]
    named += [(("metrics", i), name) for i, name in enumerate(playbook.metrics)]
    for i, spec in enumerate(playbook.hypotheses):
        if spec.metric:
            named.append((("hypotheses", i, "metric"), spec.metric))
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
            except BadInput as error:
                yield Problem("PB105", f"{error.problem}; {error.next_step}", at=at)
            match = _PARAMETER.fullmatch(value) if isinstance(value, str) else None
            if match and match[1] not in playbook.params:
                yield _unknown("PB108", "parameter", match[1], playbook.params, at)


def _plans(playbook: Playbook) -> Iterator[Problem]:
    """Problems of the plan that each profile makes of the playbook's own question."""
    if not playbook.profiles:
        yield Problem("PB204", "there is no profile", at=("profiles",))
    for profile in playbook.profiles:
        try:
            plan = own_plan(playbook, profile)
        except BadInput as error:
            text = f"makes no {profile} plan: {error.field}: {error.problem}; {error.next_step}"
            yield Problem(_code(error), text, at=("factors",))
            continue
        yield from review(plan)
        yield from _promises(playbook, plan)


def _promises(playbook: Playbook, plan: Plan) -> Iterator[Problem]:
    """Time above what the profile promises; power below what the full profile is for."""
    minutes = playbook.profiles[plan.profile].minutes
    seconds = study_seconds(plan, REFERENCE_CORES)
    if minutes and seconds > 60 * minutes * TOLERANCE:
        text = f"{plan.profile} takes about {seconds / 60:.0f} min on two cores, not {minutes:g}"
        yield Problem("PB303", text, "warning", at=("profiles", plan.profile))
    if plan.profile == "full":
        able = sensitivity(plan, question(playbook, None))
        if able.power < plan.decision.power:
            text = (
                f"{plan.decision.looks[-1]} seeds an arm have power {able.power:.2f} at min_effect "
                f"if the SD is prior_sd; they detect {able.detectable:.2g}"
            )
            yield Problem("PB304", text, "warning", at=("primary",))


def _code(error: BadInput) -> str:
    """The code inside a planner's message, or that of a plan that cannot be made."""
    match = re.match(r"PB\d{3}", error.problem)
    return match[0] if match else "PB209"


def _unknown(code: str, kind: str, name: str, known: Iterable[str], at: Place) -> Problem:
    return Problem(code, f"unknown {kind} {name!r}; {did_you_mean(name, known)}", at=at)
