"""A plan as the user sees it before anything runs."""

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from autoresearch.study.plan import Factor, Hypothesis, Plan

_SIGN = {"greater": ">", "less": "<", "different": "≠"}


def render(plan: Plan, study: str | None, place: str | None) -> RenderableType:
    """Hypotheses, factors, arms, seeds, trials and time; where the study lives, once it does."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(ratio=1)
    for index, hypothesis in enumerate(plan.hypotheses):
        grid.add_row("hypotheses" if index == 0 else "", _hypothesis(hypothesis))
    for index, factor in enumerate(plan.factors):
        grid.add_row("factors" if index == 0 else "", _factor(factor))
    grid.add_row("arms", ", ".join(arm.id for arm in plan.arms))
    grid.add_row("task", f"{', '.join(plan.tasks)} with {plan.model}, {plan.train.steps} steps")
    grid.add_row("seeds", seeds(plan))
    grid.add_row(
        "trials",
        f"{trial_count(plan)} of about {plan.estimated_trial_seconds:.0f} s, "
        f"[b]about {duration(plan.estimated_seconds)}[/b] in all",
    )
    if place:
        grid.add_row("study", Text(place))
    title = Text(plan.question, style="bold")
    kind = Text(f"{study or 'plan'} · {plan.playbook} · {plan.profile} profile", style="dim")
    notes = [Text(f"! {note}", style="yellow") for note in plan.notes]
    return Padding(Group(title, kind, "", grid, *([""] if notes else []), *notes), (1, 1, 1, 1))


def statement(hypothesis: Hypothesis) -> str:
    """`eval/acc: std-none > std-group by 0.05 or more`."""
    sign = _SIGN[hypothesis.direction]
    return (
        f"{hypothesis.metric}: {hypothesis.arm} {sign} {hypothesis.versus} "
        f"by {hypothesis.min_effect:g} or more"
    )


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


def trial_count(plan: Plan) -> int:
    """Trials of every phase, up to the last look."""
    arms, tasks = len(plan.arms), len(plan.tasks)
    tuning = plan.tuning.candidates * len(plan.seeds.tuning) * arms if plan.tuning else 0
    return tasks * (len(plan.seeds.pilot) + tuning + plan.decision.looks[-1] * arms)


def duration(seconds: float) -> str:
    """`45 s`, `8 min`, `2 h 05 min`, `1 d 3 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 36:
        return f"{hours} h {minutes:02d} min"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h"


def _hypothesis(hypothesis: Hypothesis) -> Text:
    return Text.assemble((f"{hypothesis.id} ", "bold cyan"), statement(hypothesis))


def _factor(factor: Factor) -> Text:
    levels = ", ".join(str(level) for level in factor.levels)
    control = f", control {factor.control}" if factor.role == "treatment" else f" ({factor.role})"
    return Text(f"{factor.name}: {levels}{control}")
