"""The planner that needs no language model: a topic's words, the catalogue and the playbooks."""

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from autoresearch.planner.seam import Question
from autoresearch.playbook import Playbook
from autoresearch.playbook.names import checked
from autoresearch.study.intent import AskedFactor, Intent
from autoresearch.topic.parse import Named, ParsedTopic, parse, refuse_unsupported
from autoresearch.topic.playbook_for import phrase_span, playbook_for
from autoresearch.topic.words import canonical, number
from swarm.tasks import names


def intent_of(question: Question) -> Intent:
    """What a topic asks: the same for the same topic, options and playbooks.

    Raises Refusal for a topic that nothing fits (it names the nearest playbooks).
    """
    parsed = parse(question.options.topic)
    playbook, broken = _playbook(parsed, question)
    own = {listed.name for listed in playbook.factors}
    chosen = question.options.playbook is not None
    asked = [named for named in parsed.treatments if not chosen or named.factor in own or not own]
    aside = [named.factor for named in parsed.treatments if named not in asked]
    return Intent(
        topic=question.options.topic,
        playbook=playbook.id,
        factors=tuple(
            AskedFactor(
                name=named.factor,
                levels=named.levels,
                control=named.control,
                direction=named.direction,
            )
            for named in asked
        ),
        held={named.factor: named.levels[0] for named in parsed.fixed},
        algorithm=parsed.algorithm,
        task=_spoken_task(parsed),
        metric=None if _is_part_of_its_phrase(playbook, parsed) else parsed.metric,
        parameters=dict(_parameters(playbook, parsed)),
        left_aside=(
            *(f"{name.upper()} is not a preset of this trainer" for name in parsed.unsupported),
            *(f"{name} is named but not under test in {playbook.id}" for name in aside),
            *broken,
        ),
        known=_known(question, own, asked),
    )


def _known(question: Question, own: Collection[str], asked: Sequence[Named]) -> tuple[str, ...]:
    """What earlier studies found on the same factors."""
    factors = {named.factor for named in asked} or set(own)
    return tuple(
        f"known from {found['study']}: {found['text']}"
        for found in question.findings
        if factors & set(found["detail"]["factors"])
    )


def _playbook(parsed: ParsedTopic, question: Question) -> tuple[Playbook, list[str]]:
    """The playbook that is chosen, or that the topic is matched with; and broken ones."""
    library = question.library
    if question.options.playbook is not None:
        return checked(library, question.options.playbook), []
    refuse_unsupported(parsed)
    infos = library.infos()
    playbook = playbook_for(parsed, [info.playbook for info in infos if info.playbook])
    broken = [f"left out: {info.problem}" for info in infos if info.problem]
    return checked(library, playbook.id), broken


def _is_part_of_its_phrase(playbook: Playbook, parsed: ParsedTopic) -> bool:
    """Whether the words of the metric are the playbook's own phrase: `answer length bias`."""
    span = phrase_span(playbook, parsed.words)
    return bool(span and parsed.metric_span[0] < span[1] and span[0] < parsed.metric_span[1])


def _spoken_task(parsed: ParsedTopic) -> str | None:
    """The built-in task that a topic names: `on the sort task`."""
    pairs = pairwise(parsed.words)
    return next((word for word, after in pairs if after == "task" and word in names()), None)


def _parameters(playbook: Playbook, parsed: ParsedTopic) -> Iterator[tuple[str, float]]:
    """The playbook's parameters that the topic gives: the number before one of its words."""
    for name, parameter in playbook.params.items():
        units = {canonical(word) for word in parameter.words}
        typed = [
            number(word)
            for place, (word, unit) in enumerate(pairwise(parsed.words))
            if unit in units and place + 1 not in parsed.covered and number(word) is not None
        ]
        if typed and typed[0]:
            yield name, typed[0]
