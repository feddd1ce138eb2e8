"""The planner that needs no language model: a topic's words, the catalogue and the playbooks."""

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from autoresearch.catalogue import name_of
from autoresearch.planner.course import course, refuse_too_long
from autoresearch.planner.seam import Question
from autoresearch.playbook import Playbook
from autoresearch.playbook.names import checked
from autoresearch.study.intent import AskedFactor, Intent
from autoresearch.topic.judge import is_paired
from autoresearch.topic.parse import Named, ParsedTopic
from autoresearch.topic.playbook_for import SWEEP, phrase_span, playbook_for, text_of
from autoresearch.topic.read import Reading, judged, read
from autoresearch.topic.words import canonical, number, words
from swarm.config.base import JsonValue
from swarm.errors import Refusal

_LENGTH = "max_length"
#: Settings that act in one algorithm alone.
_BELONGS = {"algorithm.value.": "ppo", "algorithm.beta": "dpo"}
_CROSSED = "the levels are crossed: every combination is an arm, not only those that are named"


def intent_of(question: Question) -> Intent:
    """What a topic asks: the same for the same topic, options and playbooks.

    Raises Refusal for a topic that nothing fits (it names the nearest playbooks), and for one that
    says what no study can honour.
    """
    own_topic = _is_own(question)
    reading = read(question.options.topic, own=own_topic)
    parsed = reading.parsed
    run = course(reading, question.options)
    unused = () if own_topic else judged(reading, _units(question))
    playbook, broken = _playbook(reading, question)
    if not parsed.treatments:  # found by its words, which are used then
        found_by = text_of(playbook)
        unused = tuple(word for word in unused if not set(words(word)) & set(found_by))
    own = {listed.name for listed in playbook.factors}
    chosen = question.options.playbook is not None
    asked = [named for named in parsed.treatments if not chosen or named.factor in own or not own]
    aside = [named.factor for named in parsed.treatments if named not in asked]
    tested, fixed = _by_path(reading, bool(asked))
    algorithm, implied = _algorithm(reading)
    held = {**{named.factor: named.levels[0] for named in parsed.fixed}, **fixed, **run.held}
    levels = [level for named in asked if named.factor == _LENGTH for level in named.levels]
    refuse_too_long(
        question.options.model or run.model or playbook.model,
        [*levels, *([held[_LENGTH]] if _LENGTH in held else [])],
    )
    return Intent(
        topic=question.options.topic,
        playbook=playbook.id,
        factors=(
            *(
                AskedFactor(
                    name=named.factor,
                    levels=named.levels,
                    control=named.control,
                    direction=named.direction,
                )
                for named in asked
            ),
            *tested,
            *run.factors,
        ),
        held=held,
        algorithm=algorithm,
        model=run.model,
        task=run.task,
        reward=run.reward,
        evaluation=run.evaluation,
        eval_every=reading.circumstances.measured.every,
        steps=reading.circumstances.steps,
        seeds=reading.circumstances.seeds,
        seed=reading.circumstances.seed or 0,
        budget_seconds=reading.circumstances.budget_seconds,
        metric=run.metric or (None if _is_part_of_its_phrase(playbook, parsed) else parsed.metric),
        parameters=dict(_parameters(playbook, parsed)),
        left_aside=(
            *(f"{name} is named but not under test in {playbook.id}" for name in aside),
            *run.notes,
            *implied,
            *([_CROSSED] if is_paired(parsed) and len(asked) > 1 else []),
            *([f"not used: {', '.join(unused)}"] if unused else []),
            *broken,
        ),
        known=_known(question, own, asked),
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


def _known(question: Question, own: Collection[str], asked: Sequence[Named]) -> tuple[str, ...]:
    """What earlier studies found on the same factors."""
    factors = {named.factor for named in asked} or set(own)
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
    return checked(library, playbook.id), broken


def _is_part_of_its_phrase(playbook: Playbook, parsed: ParsedTopic) -> bool:
    """Whether the words of the metric are the playbook's own phrase: `answer length bias`."""
    span = phrase_span(playbook, parsed.words)
    return bool(span and parsed.metric_span[0] < span[1] and span[0] < parsed.metric_span[1])


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
