"""The study as a LangGraph graph: which stage may follow which, and where a study enters.

The state holds ids only; the ledger holds the stage. The checkpoint is a cache: it is used where
it agrees with the ledger, and otherwise the graph is entered at the ledger's stage.
"""

import os
import sqlite3
from collections.abc import Callable, Hashable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import TypedDict

os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from autoresearch.run import stages
from autoresearch.run.context import StudyContext
from autoresearch.study.facts import Stage
from swarm.config.base import canonical_digest

Node = Callable[[StudyContext], Stage]

#: What each stage does. A node is an idempotent function of the ledger; it names the next stage.
NODES: Mapping[Stage, Node] = {
    "freeze": stages.freeze,
    "pilot": stages.pilot,
    "size": stages.size,
    "tune": stages.tune,
    "confirm": stages.confirm,
    "look": stages.look,
    "report": stages.report,
    "verify": stages.verify,
}

#: Which stages may follow a stage.
FOLLOWS: Mapping[Stage, tuple[Stage, ...]] = {
    "freeze": ("pilot",),
    "pilot": ("size",),
    "size": ("tune",),
    "tune": ("confirm",),
    "confirm": ("look",),
    "look": ("confirm", "report"),
    "report": ("verify",),
    "verify": ("done",),
}

#: Changes with every stage that is renamed, added or moved.
GRAPH_VERSION = canonical_digest({stage: list(then) for stage, then in FOLLOWS.items()})[:12]

#: The most supersteps of one run of the graph. 5 looks take 10, so no study comes near it.
RECURSION_LIMIT = 200


class State(TypedDict):
    """Ids only: a checkpoint must stay valid when classes move, and small when studies grow."""

    study: str
    graph_version: str


def run_graph(context: StudyContext) -> None:
    """Run a study from the ledger's stage until its stage is `done`.

    Raises what a node raises, and RuntimeError if the graph ends before the study does.
    """
    config: RunnableConfig = {
        "configurable": {"thread_id": context.study},
        "recursion_limit": RECURSION_LIMIT,
    }
    with closing(_cache(context.home.graph_file(context.study), config)) as db:
        graph = _build(LatestOnly(db))
        saved = graph.get_state(config)
        stage = context.facts().stage
        if stage == "done":
            return
        continues = saved.values.get("graph_version") == GRAPH_VERSION and saved.next == (stage,)
        entry = None if continues else State(study=context.study, graph_version=GRAPH_VERSION)
        graph.invoke(entry, config, context=context, durability="sync")
    ended = context.facts().stage
    if ended != "done":
        raise RuntimeError(f"the graph of study {context.study} ended at stage {ended!r}")


def _cache(file: Path, config: RunnableConfig) -> sqlite3.Connection:
    """The checkpoint's database. One that cannot be read is dropped, for the ledger has all of it;
    what cannot be dropped is left alone, and the checkpoint is kept in memory."""
    for place in (file, file, ":memory:"):
        try:
            db = sqlite3.connect(place, check_same_thread=False)
        except sqlite3.Error:  # a folder, or a file of someone else
            _drop(file)
            continue
        try:
            (broken,) = db.execute("PRAGMA quick_check(1)").fetchone()
            if broken == "ok":
                saver = LatestOnly(db)
                saver.setup()
                saver.get_tuple(config)
                with db:  # may it be written?
                    db.execute("DELETE FROM writes WHERE 0")
                return db
        except Exception:  # whatever it holds, it is not what LangGraph wrote
            pass
        db.close()
        _drop(file)
    raise RuntimeError("SQLite keeps no database in memory")


def _drop(file: Path) -> None:
    for end in ("", "-wal", "-shm", "-journal"):
        with suppress(OSError):
            file.with_name(f"{file.name}{end}").unlink(missing_ok=True)


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


def _build(saver: SqliteSaver) -> CompiledStateGraph[State, StudyContext, State, State]:
    graph = StateGraph(State, context_schema=StudyContext)
    for stage, node in NODES.items():
        graph.add_node(stage, _superstep(stage, node))
        ends: dict[Hashable, str] = {
            then: END if then == "done" else then for then in FOLLOWS[stage]
        }
        graph.add_conditional_edges(stage, _stage_in_ledger, ends)
    graph.add_conditional_edges(START, _stage_in_ledger, {stage: stage for stage in NODES})
    return graph.compile(checkpointer=saver)


def _superstep(stage: Stage, node: Node) -> Callable[..., State]:
    def run(state: State, *, runtime: Runtime[StudyContext]) -> State:
        context = runtime.context
        context.stop.check()
        context.observer.stage(stage)
        following = node(context)
        if following not in FOLLOWS[stage]:
            raise RuntimeError(f"stage {stage!r} may not lead to {following!r}")
        context.ledger.set_stage(context.study, following)
        return State(study=context.study, graph_version=GRAPH_VERSION)

    return run


def _stage_in_ledger(state: State, runtime: Runtime[StudyContext]) -> str:
    return runtime.context.facts().stage
