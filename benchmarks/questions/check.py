"""What is wrong with an answer to a topic: a plan, or the text of a refusal."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from ruamel.yaml import YAML

from autoresearch.catalogue import FACTORS
from benchmarks.questions.entries import Entry, Study, Wanted
from benchmarks.questions.words import flat, named, names, numbers, plain, same

#: `right`; `needless`: refused where a plan was wanted; `misnamed`: refused for another reason;
#: `noted`: another study, and the plan says so; `silent`: another study unsaid; `crashed`.
Outcome = Literal["right", "needless", "misnamed", "noted", "silent", "crashed"]

#: Levels that a note can hold without speaking of the factor.
EVERYDAY = frozenset(
    ("all", "any", "none", "true", "false", "exact", "group", "batch", "token", "value", "default")
)
PLAYBOOKS = Path(__file__).parents[2] / "playbooks"

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Answer:
    """What `start --dry-run --json` says: a plan's document, or a refusal's text."""

    plan: Document | None = None
    refusal: str = ""
    crash: str = ""


@dataclass(frozen=True)
class Fault:
    """One difference between what is asked and what is planned. It is said where the plan's notes
    name all of `about`."""

    kind: str
    detail: str
    about: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    outcome: Outcome
    faults: tuple[Fault, ...] = ()


def judge(entry: Entry, answer: Answer) -> Verdict:
    """The outcome, with what is wrong."""
    if answer.crash:
        return Verdict("crashed", (Fault("crash", answer.crash),))
    if answer.plan is None:
        return _judge_refusal(entry, answer.refusal)
    plan = answer.plan
    if entry.answer == "refuse":
        fault = Fault("not refused", "planned " + _summary(plan), tuple(entry.names))
        return _judged((fault,), plan)
    faults = min((tuple(_faults(entry, study, plan)) for study in entry.studies), key=len)
    return _judged(faults, plan)


def _judged(faults: tuple[Fault, ...], plan: Document) -> Verdict:
    if not faults:
        return Verdict("right")
    text = said(plan)
    unsaid = [fault for fault in faults if not _is_said(fault, text)]
    return Verdict("silent" if unsaid else "noted", faults)


def _is_said(fault: Fault, text: str) -> bool:
    telling = [word for word in fault.about if plain(word) not in EVERYDAY]
    return bool(telling) and all(named(word, text) for word in telling)


def _judge_refusal(entry: Entry, text: str) -> Verdict:
    if entry.answer == "plan":
        return Verdict("needless", (Fault("refused", text),))
    text = text.replace(entry.topic, " ")  # quoting the whole topic names nothing of it
    missing = [name for name in entry.names if not named(name, text)]
    if missing:
        return Verdict("misnamed", (Fault("refused", f"{text} [does not name {missing}]"),))
    return Verdict("right")


def said(plan: Document) -> str:
    """What the plan tells its reader of this topic: what was left aside, and notes but for those
    that stand in every plan of a factor or a playbook."""
    notes = (note for note in plan.get("notes", ()) if not _is_standing(note))
    lines = "\n".join([*notes, *plan.get("left_aside", ())])
    return lines.replace(plan["topic"], " ")  # quoting the whole topic tells nothing of it


@cache
def _standing() -> frozenset[str]:
    """The catalogue's traps and the playbooks' notes."""
    found = [trap for factor in FACTORS.values() for trap in factor.traps]
    for path in PLAYBOOKS.glob("*.yaml"):
        found += YAML(typ="safe", pure=True).load(path.read_text()).get("notes", ())
    return frozenset(" ".join(note.split()) for note in found)


def _is_standing(note: str) -> bool:
    return " ".join(note.split()) in _standing() or "with power" in note


def _summary(plan: Document) -> str:
    tested = {f["name"]: list(f["levels"]) for f in _treatments(plan)}
    return f"{tested} on {', '.join(plan['tasks'])} with {plan['model']}"


def _treatments(plan: Document) -> list[Document]:
    return [f for f in plan["factors"] if f["role"] == "treatment"]


def _faults(entry: Entry, study: Study, plan: Document) -> Iterator[Fault]:
    yield from _factor_faults(study, plan)
    settings = plan["settings"]
    for path, wanted in study.held.items():
        if path in plan.get("varied", ()):
            yield Fault("held", f"{path} is varied", (str(_first(wanted)),))
        elif not _fits(wanted, settings.get(path)) and not _is_family(wanted, path, plan):
            detail = f"{path} is {settings.get(path)}, not {wanted}"
            yield Fault("held", detail, (str(_first(wanted)),))
    yield from _scope_faults(study, plan)
    yield from _direction_faults(study, plan)
    for words in study.said:
        if not named(words, said(plan)):
            yield Fault("unsaid", f"nothing says {words}")
    yield from _dropped(entry, study, plan)


def _is_family(wanted: Wanted, path: str, plan: Document) -> bool:
    """Whether GRPO, which people say for the whole family, is the base recipe here and the plan
    says so."""
    base = path == "algorithm.name" and plan["settings"][path] == "default"
    return base and wanted == "grpo" and named("GRPO", said(plan))


def _factor_faults(study: Study, plan: Document) -> Iterator[Fault]:
    planned = _treatments(plan)
    for name, wanted in study.factors.items():
        found = [factor for factor in planned if _one_factor(name, factor["name"])]
        levels = [] if wanted == "any" else list(wanted)
        texts = tuple(str(_first(level)) for level in levels)
        if not found:
            yield Fault("factor", f"{name} is not under test: {_summary(plan)}", texts or (name,))
            continue
        have = list(found[0]["levels"])
        missing = [w for w in levels if not any(_fits(w, level) for level in have)]
        extra = [h for h in have if not any(_fits(w, h) for w in levels)] if levels else []
        if missing or extra:
            about = tuple(str(_first(each)) for each in [*missing, *extra])
            yield Fault("levels", f"{name} {have}, not {levels}", about)
    for factor in planned:
        if not any(_one_factor(name, factor["name"]) for name in study.factors):
            about = tuple(str(level) for level in factor["levels"])
            yield Fault("extra factor", f"{factor['name']} {list(factor['levels'])}", about)


def _paths(name: str) -> frozenset[str]:
    return frozenset(FACTORS[name].paths) if name in FACTORS else frozenset({name})


def _one_factor(wanted: str, name: str) -> bool:
    """A factor is meant by its name in the catalogue, by the one path that it sets, or by the part
    of a config that holds this path."""
    by_path = (wanted not in FACTORS or name not in FACTORS) and _paths(wanted) == _paths(name)
    return wanted == name or by_path or name.startswith(f"{wanted}.")


def _first(wanted: Wanted) -> object:
    return wanted[0] if isinstance(wanted, list) else wanted


def _fits(wanted: Wanted, value: object) -> bool:
    choices = wanted if isinstance(wanted, list) else [wanted]
    return any(choice == "any" or same(choice, value) for choice in choices)


def _scope_faults(study: Study, plan: Document) -> Iterator[Fault]:
    """Model, task, steps, seeds, budget, metric and evaluation."""
    settings = plan["settings"]
    if study.steps is not None and settings["steps"] != study.steps:
        yield Fault("steps", f"{settings['steps']}, not {study.steps}", (str(study.steps),))
    seeds = len(plan["seeds"]["confirm"])
    if study.seeds is not None and seeds != study.seeds:
        yield Fault("seeds", f"{seeds}, not {study.seeds}", (str(study.seeds),))
    if study.model is not None and plain(study.model) not in plain(plan["model"]):
        yield Fault("model", f"{plan['model']}, not {study.model}", (study.model,))
    tasks = " ".join([*plan["tasks"], str(settings["task.ref"])])
    if study.task is not None and plain(study.task) not in plain(tasks):
        yield Fault("task", f"{', '.join(plan['tasks'])}, not {study.task}", (study.task,))
    metrics = {h["metric"] for h in plan["hypotheses"]}
    if study.metric is not None and study.metric not in metrics:
        yield Fault("metric", f"{', '.join(sorted(metrics))}, not {study.metric}")
    if study.budget is not None:
        budget = _about_budget(plan)
        if not any(_fits(study.budget, value) for value in budget):
            detail = f"{budget}, not {study.budget:g} s"
            about = f"{study.budget:g}|{study.budget / 60:g}|{study.budget / 3600:g}"
            yield Fault("budget", detail, (about,))
    evaluation = _evaluation(plan)
    for key, wanted in study.evaluation.items():
        values = [v for name, v in evaluation if key == "set" or name.split(".")[-1] == key]
        fits = (plain(wanted) in plain(v) if key == "set" else same(wanted, v) for v in values)
        if not any(fits):
            yield Fault("evaluation", f"{key} is {values}, not {wanted}", (str(wanted),))


def _about_budget(plan: Document) -> list[object]:
    return [leaf for key, value in plan.items() if "budget" in key for leaf in flat(value)]


def _evaluation(plan: Document) -> list[tuple[str, object]]:
    """Settings of evaluation, those of its sets too, by their path."""

    def leaves(name: str, value: object) -> Iterator[tuple[str, object]]:
        if isinstance(value, Mapping):
            for key, inner in value.items():
                yield from leaves(f"{name}.{key}", inner)
        elif isinstance(value, Sequence) and not isinstance(value, str):
            for inner in value:
                yield from leaves(name, inner)
        else:
            yield name, value

    settings = plan["settings"].items()
    parts = [(name, value) for name, value in settings if name.startswith("evaluation.")]
    parts.append(("evaluation", plan.get("evaluation", {})))
    return [leaf for name, value in parts for leaf in leaves(name, value)]


def _direction_faults(study: Study, plan: Document) -> Iterator[Fault]:
    """A test of two sides answers a claim; one of the opposite side does not."""
    if study.better is None:
        return
    arms = {arm["id"]: list(arm["levels"].values()) for arm in plan["arms"]}
    for h in plan["hypotheses"]:
        ours = any(same(study.better, level) for level in arms[h["arm"]])
        theirs = any(same(study.better, level) for level in arms[h["versus"]])
        opposite = {(True, False): "less", (False, True): "greater"}.get((ours, theirs))
        if h["direction"] == opposite:
            detail = f"{h['arm']} {h['direction']} than {h['versus']} is claimed"
            yield Fault("direction", f"{detail}, where {study.better} is said to be better")


def _dropped(entry: Entry, study: Study, plan: Document) -> Iterator[Fault]:
    """Numbers and names of the topic of which the plan says nothing: they are neither what the
    study is expected to hold, which is compared one by one, nor a level, a fixed value or part of
    a note."""
    wanted = study.model_dump(include=set(Study.model_fields))
    expected = [value for value in flat(wanted) if value is not None]
    design = [
        *flat([f["levels"] for f in _treatments(plan)]),
        *flat(plan.get("set", {})),
        *flat([plan["tasks"], plan["model"], _about_budget(plan), plan.get("evaluation")]),
        *[h["min_effect"] for h in plan["hypotheses"]],
        len(plan["seeds"]["confirm"]),
    ]
    text = said(plan)
    known = [v for v in [*expected, *design] if isinstance(v, int | float)]
    known += [value for _, values in numbers(text) for value in values]
    for written, readings in numbers(entry.topic):
        seconds = [value * unit for value in readings for unit in (1, 60, 3600)]
        as_budget = study.budget is not None and any(same(s, study.budget) for s in seconds)
        if not as_budget and not any(same(r, value) for r in readings for value in known):
            yield Fault("dropped number", written, (written,))
    sets = [value for _, value in _evaluation(plan)]
    words = plain(
        " ".join(map(str, [*expected, *study.factors, *study.held, *design, *sets, text]))
    )
    levels = " ".join(str(value) for value in [*expected, *design])
    for name in names(entry.topic):
        if "@" in name and "k" in study.evaluation:
            continue
        if plain(name).replace("+", "p") not in words.replace("+", "p") and not named(name, levels):
            yield Fault("dropped name", name, (name,))
