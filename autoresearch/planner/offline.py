"""The planner that needs no language model: a topic's words, the catalogue and the playbooks."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from autoresearch.catalogue import name_of
from autoresearch.planner.course import Course, course, refuse_too_long
from autoresearch.planner.seam import Question
from autoresearch.playbook import Playbook
from autoresearch.playbook.names import checked
from autoresearch.study.intent import AskedFactor, Intent
from autoresearch.topic.judge import is_paired
from autoresearch.topic.parse import ParsedTopic
from autoresearch.topic.playbook_for import SWEEP, phrase_span, playbook_for, text_of
from autoresearch.topic.read import Reading, judged, read
from autoresearch.topic.words import canonical, number, words
from swarm.config.base import JsonValue
from swarm.errors import Refusal

_LENGTH = "max_length"
#: Settings that act in one algorithm alone.
_BELONGS = {"algorithm.value.": "ppo", "algorithm.beta": "dpo"}
#: Settings that act where another factor makes them, and what to add to the topic.
_IDLE = {
    "warmup.lr": ("sft_warmup", "with 20 SFT steps"),
    "warmup.rows": ("sft_warmup", "with 20 SFT steps"),
    "data.resample_rounds": ("difficulty_filter", "with dynamic sampling"),
    "algorithm.correction.low": ("correction", "with TIS"),
    "algorithm.correction.high": ("correction", "with TIS"),
    "algorithm.overlong_factor": (
        "algorithm.overlong_buffer",
        "with algorithm.overlong_buffer=0.2",
    ),
}
_CROSSED = "the levels are crossed: every combination is an arm, not only those that are named"


def intent_of(question: Question) -> Intent:
    """What a topic asks: the same for the same topic, options and playbooks.

    Raises Refusal for a topic that nothing fits (it names the nearest playbooks), and for one that
    says what no study can honour.
    """
    own_topic = _is_own(question)
    reading = read(question.options.topic, own=own_topic)
    run = course(reading, question.options)
    unused = (
        ()
        if own_topic
        else judged(reading, _units(question), compared=bool(question.options.levels))
    )
    playbook, broken = _playbook(reading, question)
    if not reading.parsed.treatments:  # found by its words, which are used then
        found_by = set(text_of(playbook))
        unused = tuple(word for word in unused if not set(words(word)) & found_by)
    asked = _asked(reading, question, playbook, run)
    algorithm, implied = _algorithm(reading)
    _refuse_idle(reading)
    refuse_too_long(
        question.options.model or run.model or playbook.model,
        [
            *(level for each in asked.factors if each.name == _LENGTH for level in each.levels),
            asked.held.get(_LENGTH),
        ],
    )
    how = reading.circumstances
    return Intent(
        topic=question.options.topic,
        playbook=playbook.id,
        factors=asked.factors,
        held=asked.held,
        algorithm=algorithm,
        model=run.model,
        task=run.task,
        reward=run.reward,
        evaluation=run.evaluation,
        eval_every=how.measured.every,
        steps=how.steps,
        seeds=how.seeds,
        seed=how.seed or 0,
        budget_seconds=how.budget_seconds,
        metric=run.metric or _metric(playbook, reading.parsed),
        parameters=dict(_parameters(playbook, reading.parsed)),
        left_aside=(
            *asked.aside,
            *run.notes,
            *implied,
            *([f"not used: {', '.join(unused)}"] if unused else []),
            *broken,
        ),
        known=_known(question, playbook, asked),
    )


@dataclass(frozen=True)
class _Asked:
    """The factors under test, those that are held, and what is to be said of them."""

    factors: tuple[AskedFactor, ...]
    held: dict[str, JsonValue]
    aside: tuple[str, ...]


def _asked(reading: Reading, question: Question, playbook: Playbook, run: Course) -> _Asked:
    """A chosen playbook tests its own factors alone. One level of a factor beside a path with
    several is held."""
    parsed = reading.parsed
    own = {listed.name for listed in playbook.factors}
    chosen = question.options.playbook is not None and bool(own)
    named = [each for each in parsed.treatments if not chosen or each.factor in own]
    aside = [
        f"{each.factor} is named but not under test in {playbook.id}"
        for each in parsed.treatments
        if each not in named
    ]
    tested, fixed = _by_path(reading, bool(named))
    compared = any(len(factor.levels) > 1 for factor in tested)
    beside = [each for each in named if len(each.levels) == 1 and compared]
    named = [each for each in named if each not in beside]
    if is_paired(parsed) and len(named) > 1:
        aside.append(_CROSSED)
    factors = (
        AskedFactor(
            name=each.factor, levels=each.levels, control=each.control, direction=each.direction
        )
        for each in named
    )
    return _Asked(
        factors=(*factors, *tested, *run.factors),
        held={
            **{each.factor: each.levels[0] for each in (*parsed.fixed, *beside)},
            **fixed,
            **run.held,
        },
        aside=tuple(aside),
    )


def _units(question: Question) -> set[str]:
    """The words behind a number that a parameter of some playbook takes."""
    known = [info.playbook for info in question.library.infos() if info.playbook]
    return {
        canonical(word)
        for playbook in known
        for parameter in playbook.params.values()
        for word in parameter.words
    }


def _algorithm(reading: Reading) -> tuple[str | None, list[str]]:
    """The preset that is meant, named or implied by a setting of its own, and what to say of it.
    Raises Refusal for such a setting under another preset."""
    named = reading.parsed.algorithm
    for path in (each.path for each in reading.paths):
        needs = next((p for start, p in _BELONGS.items() if path.startswith(start)), None)
        if needs is None or needs == named:
            continue
        if named is not None:
            step = f"ask about it in {needs.upper()}"
            raise Refusal("topic", f"{path} does nothing in {named.upper()}", step)
        return needs, [f"{path} belongs to {needs.upper()}, which every arm takes"]
    return named, []


def _refuse_idle(reading: Reading) -> None:
    """Raise Refusal for a setting that does nothing without another that the topic leaves out."""
    parsed, paths = reading.parsed, {named.path for named in reading.paths}
    said = paths | {named.factor for named in (*parsed.treatments, *parsed.fixed)}
    for path in sorted(paths & _IDLE.keys()):
        needs, words_ = _IDLE[path]
        if needs not in said:
            raise Refusal("topic", f"{path} does nothing without {needs}", f"add {words_!r}")


def _is_own(question: Question) -> bool:
    """Whether the topic is, word for word, one that a playbook gives as its own."""
    said = words(question.options.topic)
    known = [info.playbook for info in question.library.infos() if info.playbook]
    return any(
        said == words(text)
        for playbook in known
        for text in (*playbook.match.topics, playbook.title, playbook.question)
    )


def _by_path(reading: Reading, others: bool) -> tuple[list[AskedFactor], dict[str, JsonValue]]:
    """Settings that are named by their path: under test with two levels or where nothing else is,
    else held fixed."""
    tested, fixed = [], {}
    for named in reading.paths:
        name = name_of(named.path, named.levels)
        if len(named.levels) == 1 and (others or len(reading.paths) > 1):
            fixed[name] = named.levels[0]
        else:
            tested.append(AskedFactor(name=name, levels=named.levels))
    return tested, fixed


def _known(question: Question, playbook: Playbook, asked: _Asked) -> tuple[str, ...]:
    """What earlier studies found on the same factors."""
    factors = {each.name for each in asked.factors} or {each.name for each in playbook.factors}
    return tuple(
        f"known from {found['study']}: {found['text']}"
        for found in question.findings
        if factors & set(found["detail"]["factors"])
    )


def _playbook(reading: Reading, question: Question) -> tuple[Playbook, list[str]]:
    """The playbook that is chosen, or that the topic is matched with; and broken ones. Where a
    factor is named by its path, by --factor or as a precision, the sweep takes it."""
    library, parsed = question.library, reading.parsed
    if question.options.playbook is not None:
        return checked(library, question.options.playbook), []
    tested = [path for path in reading.paths if len(path.levels) > 1 or not parsed.treatments]
    if question.options.levels or tested or len(reading.circumstances.precisions) > 1:
        return checked(library, SWEEP), []
    infos = library.infos()
    playbook = playbook_for(parsed, [info.playbook for info in infos if info.playbook])
    broken = [f"left out: {info.problem}" for info in infos if info.problem]
    if _asks_less(playbook, parsed):
        return checked(library, SWEEP), broken
    return checked(library, playbook.id), broken


def _asks_less(playbook: Playbook, parsed: ParsedTopic) -> bool:
    """Whether the topic gives the levels of one factor, and the playbook would cross them with
    another that it does not name."""
    named = {each.factor: each for each in (*parsed.treatments, *parsed.fixed)}
    own = {listed.name for listed in playbook.factors}
    given = any(len(each.levels) > 1 for each in parsed.treatments if each.factor in own)
    return given and bool(own - named.keys())


def _metric(playbook: Playbook, parsed: ParsedTopic) -> str | None:
    """The metric that is named, unless its words are the playbook's own phrase: `answer length
    bias`."""
    span = phrase_span(playbook, parsed.words)
    inside = span and parsed.metric_span[0] < span[1] and span[0] < parsed.metric_span[1]
    return None if inside else parsed.metric


def _parameters(playbook: Playbook, parsed: ParsedTopic) -> Iterator[tuple[str, float]]:
    """The playbook's parameters that the topic gives: the number before one of its words."""
    for name, parameter in playbook.params.items():
        units = {canonical(word) for word in parameter.words}
        typed = [
            number(word)
            for place, (word, unit) in enumerate(pairwise(parsed.words))
            if unit in units and place + 1 not in parsed.covered and number(word) is not None
            if place not in parsed.numbers
        ]
        if typed and typed[0]:
            yield name, typed[0]
