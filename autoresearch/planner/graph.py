"""The study as a LangGraph graph: which stage may follow which, and where a study enters.

The state holds ids only; the ledger holds the stage. The checkpoint is a cache: it is used where
it agrees with the ledger, and otherwise the graph is entered at the ledger's stage.
"""

import os
import sqlite3
from collections.abc import Callable, Hashable, Mapping
from contextlib import closing
from types import MappingProxyType
from typing import Protocol, TypedDict

os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from autoresearch.planner import nodes
from autoresearch.planner.work import Work
from autoresearch.study.facts import Stage
from swarm.config import canonical_digest

Node = Callable[[Work], Stage]

#: What each stage does. A node is an idempotent function of the ledger; it names the next stage.
NODES: Mapping[Stage, Node] = MappingProxyType(
    {
        "scope": nodes.scope,
        "recall": nodes.recall,
        "hypothesise": nodes.hypothesise,
        "design": nodes.design,
        "lint": nodes.lint,
        "freeze": nodes.freeze,
        "pilot": nodes.pilot,
        "size": nodes.size,
        "tune": nodes.tune,
        "confirm": nodes.confirm,
        "analyse": nodes.analyse,
        "decide": nodes.decide,
        "report": nodes.report,
        "verify": nodes.verify,
    }
)

#: Which stages may follow a stage.
FOLLOWS: Mapping[Stage, tuple[Stage, ...]] = MappingProxyType(
    {
        "scope": ("recall",),
        "recall": ("hypothesise",),
        "hypothesise": ("design",),
        "design": ("lint",),
        "lint": ("design", "freeze"),
        "freeze": ("pilot",),
        "pilot": ("size",),
        "size": ("tune",),
        "tune": ("confirm",),
        "confirm": ("analyse",),
        "analyse": ("decide",),
        "decide": ("confirm", "report"),
        "report": ("verify",),
        "verify": ("done",),
    }
)

#: Changes with every stage that is renamed, added or moved.
GRAPH_VERSION = canonical_digest({stage: list(then) for stage, then in FOLLOWS.items()})[:12]

#: Supersteps of one run of the graph. 5 looks take 15; nothing comes near this by design.
RECURSION_LIMIT = 200


class State(TypedDict):
    """Ids only: a checkpoint must stay valid when classes move, and small when studies grow."""

    study: str
    graph_version: str


def run_graph(work: Work) -> None:
    """Run a study from the ledger's stage until its stage is `done`.

    Raises what a node raises, and RuntimeError if the graph ends before the study does.
    """
    with closing(sqlite3.connect(work.home.graph_file(work.study), check_same_thread=False)) as db:
        graph = _build(LatestOnly(db))
        config: RunnableConfig = {
            "configurable": {"thread_id": work.study},
            "recursion_limit": RECURSION_LIMIT,
        }
        saved = graph.get_state(config)
        stage = work.facts().stage
        if stage == "done":
            return
        continues = saved.values.get("graph_version") == GRAPH_VERSION and saved.next == (stage,)
        entry = None if continues else State(study=work.study, graph_version=GRAPH_VERSION)
        graph.invoke(entry, config, context=work, durability="sync")
    ended = work.facts().stage
    if ended != "done":
        raise RuntimeError(f"the graph of study {work.study} ended at stage {ended!r}")


class LatestOnly(SqliteSaver):
    """A SqliteSaver that keeps one checkpoint a thread: full snapshots would pile up for days."""

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        saved = super().put(config, checkpoint, metadata, new_versions)
        with self.cursor() as cursor:
            for table in ("checkpoints", "writes"):
                cursor.execute(
                    f"DELETE FROM {table} WHERE thread_id = ? AND checkpoint_id <> ?",
                    (saved["configurable"]["thread_id"], checkpoint["id"]),
                )
        return saved


def _build(saver: SqliteSaver) -> CompiledStateGraph[State, Work, State, State]:
    graph = StateGraph(State, context_schema=Work)
    for stage, node in NODES.items():
        graph.add_node(stage, _superstep(stage, node))
        ends: dict[Hashable, str] = {
            then: END if then == "done" else then for then in FOLLOWS[stage]
        }
        graph.add_conditional_edges(stage, _stage_in_ledger, ends)
    graph.add_conditional_edges(START, _stage_in_ledger, {stage: stage for stage in NODES})
    return graph.compile(checkpointer=saver)


class _Superstep(Protocol):
    """A node as LangGraph calls it."""

    def __call__(self, state: State, *, runtime: Runtime[Work]) -> State: ...


def _superstep(stage: Stage, node: Node) -> _Superstep:
    def run(state: State, *, runtime: Runtime[Work]) -> State:
        work = runtime.context
        work.stop.check()
        work.observer.stage(stage)
        following = node(work)
        if following not in FOLLOWS[stage]:
            raise RuntimeError(f"stage {stage!r} may not lead to {following!r}")
        work.ledger.set_stage(work.study, following)
        return State(study=work.study, graph_version=GRAPH_VERSION)

    return run


def _stage_in_ledger(state: State, runtime: Runtime[Work]) -> str:
    return runtime.context.facts().stage
