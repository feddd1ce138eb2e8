"""A plan as the user sees it before anything runs."""

from collections.abc import Collection, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from autoresearch.design.cost import trial_counts
from autoresearch.planner.notes import decisive
from autoresearch.planner.preview import settings
from autoresearch.study.durations import duration
from autoresearch.study.intent import Intent
from autoresearch.study.plan import Factor, Plan
from swarm.config.parts import EvalSet


def render(
    plan: Plan,
    study: str | None,
    place: str | None,
    intent: Intent | None = None,
    *,
    left_aside: bool = True,
) -> RenderableType:
    """Hypotheses, factors, arms, seeds, trials and time; where the study lives, once it does.

    Of its notes those are shown that could change what the reader does next; what was `left_aside`
    too, unless it is shown elsewhere.
    """
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(ratio=1, overflow="fold")
    for index, hypothesis in enumerate(plan.hypotheses):
        line = Text.assemble((f"{hypothesis.id} ", "bold cyan"), hypothesis.statement)
        grid.add_row("hypotheses" if index == 0 else "", line)
    for index, factor in enumerate(plan.factors):
        grid.add_row("factors" if index == 0 else "", _factor(factor))
    grid.add_row("arms", Text(", ".join(arm.id for arm in plan.arms)))
    grid.add_row("task", f"{', '.join(plan.tasks)} with {plan.model}, {plan.train.steps} steps")
    for index, each in enumerate(plan.train.evaluation.sets):
        grid.add_row("evaluation" if index == 0 else "", Text(evaluation_set(each)))
    grid.add_row("seeds", seeds(plan))
    count = (
        f"{sum(trial_counts(plan).values())} of about {plan.estimated_trial_seconds:.0f} s each, "
    )
    whole = (f"about {duration(plan.estimated_seconds)}", "bold")
    grid.add_row("trials", Text.assemble(count, whole, " in all"))
    if place:
        grid.add_row("folder", Text(place))
    title = Text(plan.question, style="bold")
    kind = Text(f"{study or 'plan'} · {plan.playbook} · {plan.profile} profile", style="dim")
    aside = set(intent.left_aside) if intent and not left_aside else set()
    notes = decisive(
        plan.model_copy(update={"notes": tuple(n for n in plan.notes if n not in aside)}), intent
    )
    return Padding(Group(title, kind, "", grid, *_notes(notes)), (1, 1, 0, 1))


def settings_table(
    plan: Plan, paths: Collection[str], fixed: Collection[str] = ()
) -> RenderableType:
    """These settings of a trial, a line a part of the config; `fixed` are the user's own."""
    tuned = {plan.tuning.path} if plan.tuning else set()
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(ratio=1, overflow="fold")
    parts: dict[str, list[str]] = {}
    for path, value in settings(plan).items():
        if path not in paths:
            continue
        if path == "evaluation.sets":  # a line each above
            value = ", ".join(each.title for each in plan.train.evaluation.sets) or "none"
        part, _, name = path.partition(".")
        marks = {"tuned": path in tuned, "set": path in fixed}
        mark = "".join(f" ({name})" for name, holds in marks.items() if holds)
        parts.setdefault(part if name else "run", []).append(f"{name or part} {shown(value)}{mark}")
    for part, values in parts.items():
        grid.add_row(part, Text(", ".join(values)))
    return Padding(grid, (0, 1, 1, 1))


def shown(value: object) -> str:
    """A setting as YAML writes it."""
    return (
        "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    )


def evaluation_set(each: EvalSet) -> str:
    """An evaluation set, in a line."""
    answers = "one answer" if each.k == 1 else f"{each.k} answers"
    drawn = f"at temperature {each.temperature:g}" if each.temperature else "greedy"
    parts = [f"{each.title}: {each.prompts} prompts of {each.ref}, {answers} each, {drawn}"]
    parts += [f"judged by {each.reward}"] if each.reward else []
    parts += [f"sha256 {each.digest[:12]}"] if each.digest else []
    return ", ".join(parts)


def seeds(plan: Plan) -> str:
    """The seeds of each phase, with the looks of the confirmation."""
    looks = "/".join(str(n) for n in plan.decision.looks)
    parts = [f"{len(plan.seeds.pilot)} pilot (A/A)"]
    if plan.tuning:
        parts.append(
            f"{len(plan.seeds.tuning)} tuning × {plan.tuning.candidates} values of "
            f"{plan.tuning.path}"
        )
    return ", ".join([*parts, f"{looks} confirmation per arm"])


def _factor(factor: Factor) -> Text:
    levels = ", ".join(str(level) for level in factor.levels)
    match factor.role:
        case "treatment":
            return Text(f"{factor.name}: {levels}; control {factor.control}")
        case "nuisance":
            return Text(f"{factor.name}: {factor.levels[0]} to {factor.levels[-1]}, tuned")
        case "block":
            return Text(f"{factor.name}: {levels}; blocks")


def _notes(notes: Sequence[str]) -> list[RenderableType]:
    if not notes:
        return []
    table = Table.grid(padding=(0, 1))
    for note in notes:
        table.add_row(Text("·", style="yellow"), Text(note, style="dim"))
    return [Text(), table]
