"""The interface of planners: each makes an `Intent` of a question; the rest is the same for all."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autoresearch.playbook import Library
from autoresearch.study.intent import Intent
from autoresearch.study.options import StartOptions


@dataclass(frozen=True)
class Question:
    """What a planner is asked: the topic and options of `start`, the playbooks that there are, and
    what earlier studies of this home found."""

    options: StartOptions
    library: Library
    findings: Sequence[Mapping[str, Any]] = ()


Planner = Callable[[Question], Intent]
