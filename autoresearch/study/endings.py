"""Why a study stops before its end. Each kind has its own exit code (see `autoresearch.cli`)."""

from swarm.errors import START_ANEW


class TaskFailed(Exception):
    """A trial was refused, or the user's reward failed in it, and would in the others: the study
    cannot go on. The message names the field, or the function and the row."""

    def __init__(self, cause: str) -> None:
        super().__init__(cause if cause.endswith(START_ANEW) else f"{cause}; {START_ANEW}")


class AtTheFloor(Exception):
    """No answer was right in the pilot, so that no arm could be told from another."""

    def __init__(self, runs: int, metric: str, counted: str) -> None:
        super().__init__(
            f"no held-out answer was right in any of {runs} pilot runs, so that no arm could be "
            f"told from another; {metric} counts {counted}: start anew with an easier task, a "
            "stronger model or another answer format"
        )


class Leased(Exception):
    """Another process holds the study; this one wrote nothing."""

    def __init__(self, study: str, holder: str) -> None:
        super().__init__(f"study {study} is held by {holder}")


class BudgetExhausted(Exception):
    """The study has used up its wall seconds; it can be resumed with more."""

    def __init__(self, spent: float, limit: float) -> None:
        super().__init__(f"budget exhausted: {spent:.0f} s spent of {limit:.0f} s")


class Paused(Exception):
    """Someone asked the study to stop for now; nothing is lost."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"paused: {reason}")
        self.reason = reason
