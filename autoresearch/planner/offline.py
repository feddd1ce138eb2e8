"""The planner that needs no language model: topic, playbook, catalogue, plan."""

from dataclasses import replace

from autoresearch.planner.choose import choose, phrase_span
from autoresearch.planner.compose import compose
from autoresearch.planner.lint import require_clean
from autoresearch.planner.options import StartOptions
from autoresearch.planner.reading import Reading, read, refuse_unsupported
from autoresearch.planner.references import checked
from autoresearch.playbook import Library, Playbook
from autoresearch.study.errors import BadInput
from autoresearch.study.plan import Plan


def draft(topic: str, options: StartOptions, library: Library | None = None) -> Plan:
    """Plan a study of `topic`: the same plan for the same topic, options, playbooks and machine.

    Raises BadInput for a topic that is empty or that nothing fits (it names the nearest
    playbooks), and for options that no plan can follow.
    """
    if not topic.strip():
        raise BadInput("topic", "it is empty", 'ask a question: autoresearch start "…"')
    library = library or Library.locate()
    reading = read(topic)
    playbook, reading, notes = _choose(reading, options, library)
    reading = _without_overlap(playbook, reading)
    plan = compose(playbook, reading, options.model_copy(update={"topic": topic}))
    plan = plan.model_copy(update={"notes": (*plan.notes, *notes)})
    require_clean(plan)
    return plan


def _without_overlap(playbook: Playbook, reading: Reading) -> Reading:
    """Words of a playbook's own phrase name no other metric: `answer length bias`."""
    span = phrase_span(playbook, reading.words)
    if span and reading.metric_span[0] < span[1] and span[0] < reading.metric_span[1]:
        return replace(reading, metric=None)
    return reading


def _choose(
    reading: Reading, options: StartOptions, library: Library
) -> tuple[Playbook, Reading, list[str]]:
    """The playbook, the topic as it reads it, and notes on what was left aside."""
    if options.playbook is not None:
        playbook = checked(library, options.playbook)
        own = {listed.name for listed in playbook.factors}
        kept = tuple(named for named in reading.treatments if named.factor in own or not own)
        aside = [named.factor for named in reading.treatments if named not in kept]
        notes = [f"{name} is named but not under test in {playbook.id}" for name in aside]
        return playbook, replace(reading, treatments=kept), notes
    refuse_unsupported(reading)
    infos = library.infos()
    playbook = choose(reading, [info.playbook for info in infos if info.playbook])
    broken = [f"left out: {info.problem}" for info in infos if info.problem]
    return checked(library, playbook.id), reading, broken
