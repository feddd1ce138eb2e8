"""The planner that needs no language model: topic, playbook, catalogue, plan."""

from dataclasses import replace

from autoresearch.planner.compose import compose
from autoresearch.planner.lint import require_clean
from autoresearch.playbook import Library, Playbook
from autoresearch.playbook.names import checked
from autoresearch.study.options import StartOptions
from autoresearch.study.plan import Plan
from autoresearch.topic.parse import ParsedTopic, parse, refuse_unsupported
from autoresearch.topic.playbook_for import phrase_span, playbook_for
from swarm.errors import Refusal


def draft(topic: str, options: StartOptions, library: Library | None = None) -> Plan:
    """Plan a study of `topic`: the same plan for the same topic, options, playbooks and machine.

    Raises Refusal for a topic that is empty or that nothing fits (it names the nearest
    playbooks), and for options that no plan can follow.
    """
    if not topic.strip():
        raise Refusal("topic", "it is empty", 'ask a question: autoresearch start "…"')
    library = library or Library.locate()
    parsed = parse(topic)
    playbook, parsed, notes = _playbook(parsed, options, library)
    parsed = _without_overlap(playbook, parsed)
    plan = compose(playbook, parsed, options.model_copy(update={"topic": topic}))
    plan = plan.model_copy(update={"notes": (*plan.notes, *notes)})
    require_clean(plan)
    return plan


def _without_overlap(playbook: Playbook, parsed: ParsedTopic) -> ParsedTopic:
    """Words of a playbook's own phrase name no other metric: `answer length bias`."""
    span = phrase_span(playbook, parsed.words)
    if span and parsed.metric_span[0] < span[1] and span[0] < parsed.metric_span[1]:
        return replace(parsed, metric=None)
    return parsed


def _playbook(
    parsed: ParsedTopic, options: StartOptions, library: Library
) -> tuple[Playbook, ParsedTopic, list[str]]:
    """The playbook, the topic as it reads it, and notes on what was left aside."""
    if options.playbook is not None:
        playbook = checked(library, options.playbook)
        own = {listed.name for listed in playbook.factors}
        kept = tuple(named for named in parsed.treatments if named.factor in own or not own)
        aside = [named.factor for named in parsed.treatments if named not in kept]
        notes = [f"{name} is named but not under test in {playbook.id}" for name in aside]
        return playbook, replace(parsed, treatments=kept), notes
    refuse_unsupported(parsed)
    infos = library.infos()
    playbook = playbook_for(parsed, [info.playbook for info in infos if info.playbook])
    broken = [f"left out: {info.problem}" for info in infos if info.problem]
    return checked(library, playbook.id), parsed, broken
