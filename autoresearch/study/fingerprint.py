"""What a study's numbers depend on besides its plan."""

from collections.abc import Mapping
from typing import Any

from autoresearch.study.plan import Plan

#: What decides and runs a study, besides the trainer's own libraries.
_LIBRARIES = ("ray", "scipy", "optuna")

#: One trial computes on one thread, whatever machine it runs on.
_THREADS_PER_TRIAL = 1


def study_fingerprint(plan: Plan) -> dict[str, Any]:
    """The `fingerprint` record: what `run_fingerprint` says, and the libraries of the study."""
    from swarm.train.fingerprint import LIBRARIES, judged, run_fingerprint

    refs = judged(plan.train, plan.tasks)
    return run_fingerprint(plan.model, refs, _THREADS_PER_TRIAL, (*LIBRARIES, *_LIBRARIES))


def is_of_an_earlier_version(fingerprint: Mapping[str, Any]) -> bool:
    """Whether an earlier version wrote the record, with one evaluator digest for all tasks. The
    `tiny` of such a study was built on its own machine and is not the frozen one."""
    return "evaluator" in fingerprint
