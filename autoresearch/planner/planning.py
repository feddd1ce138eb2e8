"""Planning as a LangGraph graph: recall, draft, lint, and a repair for each problem that has one.

Its state is the intent and the plan as JSON. It keeps no checkpoint: planning takes a second and
runs no trial. `start` and `--dry-run` both plan this way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from autoresearch.catalogue import name_of
from autoresearch.planner.compose import compose
from autoresearch.planner.lint import problems
from autoresearch.planner.planners import planner_named
from autoresearch.planner.repairs import NeedsRepair
from autoresearch.planner.seam import Question
from autoresearch.playbook import Library
from autoresearch.playbook.names import checked
from autoresearch.study.intent import AskedFactor, Intent, Repair
from autoresearch.study.options import StartOptions
from autoresearch.study.plan import Plan, is_text
from swarm.errors import Refusal

#: The most repairs of one intent: more than two factors can need.
MOST_REPAIRS = 12


@dataclass(frozen=True)
class Drafted:
    """What was understood, and its plan."""

    intent: Intent
    plan: Plan


class State(TypedDict, total=False):
    """`repair` is the next one to make; `problem` is what no repair can solve."""

    known: list[dict[str, Any]]
    intent: dict[str, Any]
    plan: dict[str, Any]
    repair: dict[str, Any] | None
    problem: str


def plan_study(
    options: StartOptions,
    library: Library | None = None,
    findings: Sequence[Mapping[str, Any]] = (),
) -> Drafted:
    """Plan a study: the same plan for the same options, playbooks, findings and machine.

    Raises Refusal for a topic that is empty or that nothing fits, for options that no plan can
    follow, and for a plan that cannot answer its question.
    """
    if not options.topic.strip():
        raise Refusal("topic", "it is empty", 'ask a question: autoresearch start "…"')
    if not is_text(options.topic):
        raise Refusal("topic", "it holds bytes that are not UTF-8", "type it again")
    context = Question(options, library or Library.locate(), findings)
    limit: RunnableConfig = {"recursion_limit": 5 + 2 * MOST_REPAIRS}
    ended = _graph().invoke(State(), limit, context=context)
    if problem := ended.get("problem"):
        raise Refusal("plan", problem, "change the topic, the playbook or the --set values")
    return Drafted(Intent.model_validate(ended["intent"]), Plan.read_back(ended["plan"]))


def recall(state: State, runtime: Runtime[Question]) -> State:
    """What earlier studies found that may bear on the question: an input of every planner."""
    return State(known=[dict(found) for found in runtime.context.findings])


def draft(state: State, runtime: Runtime[Question]) -> State:
    """What is asked, by the planner of the options."""
    question = replace(runtime.context, findings=tuple(state["known"]))
    named = planner_named(question.options.planner)(question)
    return State(intent=under(question.options, named).model_dump(mode="json"))


def under(options: StartOptions, intent: Intent) -> Intent:
    """The intent with every option that is given: these no planner decides. A factor given by
    `--factor` is under test beside those that the planner read, or in place of the same one."""
    given = {
        name: value
        for name, value in options.model_dump(exclude_none=True).items()
        if name in Intent.model_fields
    }
    asked = {named.name: named for named in intent.factors}
    for name, levels in options.levels.items():
        known = name_of(name, levels)
        asked[known] = AskedFactor(name=known, levels=levels)
    held = {name: level for name, level in intent.held.items() if name not in asked}
    given |= {"factors": tuple(asked.values()), "held": held}
    return Intent.model_validate({**intent.model_dump(), **given})


def lint(state: State, runtime: Runtime[Question]) -> State:
    """The intent's plan, or the repair that it waits for, or what is wrong with it."""
    intent = Intent.model_validate(state["intent"])
    playbook = checked(runtime.context.library, intent.playbook)
    try:
        plan = compose(playbook, intent)
    except NeedsRepair as needed:
        if len(intent.repairs) >= MOST_REPAIRS:
            return State(problem=str(needed), repair=None)
        return State(repair=needed.repair.model_dump(mode="json"))
    found = problems(plan)
    return State(plan=plan.model_dump(mode="json"), repair=None, problem=found[0] if found else "")


def repair(state: State) -> State:
    """The intent with the repair made."""
    waited_for = Repair.model_validate(state["repair"])
    intent = Intent.model_validate(state["intent"]).repaired(waited_for)
    return State(intent=intent.model_dump(mode="json"))


def _graph() -> CompiledStateGraph[State, Question, State, State]:
    graph = StateGraph(State, context_schema=Question)
    graph.add_node("recall", recall)
    graph.add_node("draft", draft)
    graph.add_node("lint", lint)
    graph.add_node("repair", repair)
    graph.add_edge(START, "recall")
    graph.add_edge("recall", "draft")
    graph.add_edge("draft", "lint")
    graph.add_conditional_edges("lint", lambda s: "repair" if s["repair"] else END)
    graph.add_edge("repair", "lint")
    return graph.compile()
