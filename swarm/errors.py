"""What can go wrong, for both packages: refusals that the user can put right, faults of machines.

A refusal is one line that names the field, the problem and the next step: exit code 2. A fault of
the machines, or of the user's reward, is a status of a run, never a reward: exit code 1. Both codes
are given in one place, `swarm.cli.main`.
"""

import difflib
import errno
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_CUTOFF = 0.6

#: What a full, failing or closed disk says: not the program's fault, and it may pass.
OF_THE_DISK = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EACCES, errno.ESTALE}
)


class Refusal(Exception):
    """The user can put this right: which field (a dotted path of the config, or an option), what is
    wrong with it, what to do next."""

    def __init__(self, field: str, problem: str, next_step: str) -> None:
        self.field = field
        self.problem = problem
        self.next_step = next_step

    def __reduce__(self) -> tuple[Any, ...]:
        """Whatever its constructor takes, it comes back from another process as it was."""
        return _restored, (type(self), dict(self.__dict__))

    def __str__(self) -> str:
        return f"{self.field}: {self.problem}; {self.next_step}"


def _restored(kind: type[Refusal], state: dict[str, Any]) -> Refusal:
    error = kind.__new__(kind)
    error.__dict__.update(state)
    return error


class BadTask(Refusal):
    """A task that cannot be used as it is."""

    def __init__(self, problem: str, next_step: str, field: str = "task") -> None:
        super().__init__(field, problem, next_step)


class ModelUnavailable(Refusal):
    """A ref (`model.ref`) that leads to no model, or to one that cannot be run here."""

    def __init__(self, problem: str, next_step: str) -> None:
        super().__init__("model.ref", problem, next_step)


class BadAdapter(Refusal):
    """A folder that holds no weights for this base model."""

    def __init__(self, folder: Path, problem: str, next_step: str, field: str = "adapter") -> None:
        super().__init__(field, f"{folder} {problem}", next_step)


class BadStorage(Refusal):
    """Nothing can be kept under an address."""

    def __init__(self, address: str, cause: Exception | str, next_step: str) -> None:
        why = " ".join(str(cause).split()) or type(cause).__name__
        super().__init__("checkpoints", f"{address} cannot be used ({why})", next_step)


class CheckpointsLost(BadStorage):
    """A run has written checkpoints, and none of them can be loaded: going on would be starting
    over. `problem` tells what cannot be reached from what is damaged or gone."""


class BadFolder(Refusal):
    """A run folder that cannot be made or written, or that another process writes."""

    def __init__(self, problem: str, next_step: str) -> None:
        super().__init__("out", problem, next_step)


#: The next step after a defect in the user's own file, whose digest changes with it.
START_ANEW = "correct it and start anew"


class RewardFailed(Exception):
    """A user's function raised, or returned what is not a score. It ends the run: a defect of the
    reward must never be trained on as if it were a reward."""

    def __init__(self, function: str, problem: str, row: int, next_step: str = START_ANEW) -> None:
        super().__init__(function, problem, row, next_step)
        self.field = function
        self.problem = f"{problem} on row {row}"
        self.next_step = next_step

    def __str__(self) -> str:
        return f"{self.field} {self.problem}; {self.next_step}"


class RewardOverdue(RewardFailed):
    """A user's function did not return within the time limit, `task.time_limit`."""

    def __init__(self, function: str, limit: float, row: int) -> None:
        super().__init__(
            function,
            f"did not return within {limit:g} s",
            row,
            "make it faster, or raise task.time_limit and resume",
        )
        self._made_of = (function, limit, row)

    def __reduce__(self) -> tuple[Any, ...]:
        return RewardOverdue, self._made_of


class FetchFailed(Exception):
    """A model's package did not arrive, or is not the one that is expected. Nothing was kept."""


class InfrastructureError(Exception):
    """The machinery failed; no result is touched, and what ran can be resumed."""


class WriteFailed(InfrastructureError):
    """A disk or storage took no more of a run while it trained; `field` is the place."""

    def __init__(self, place: object, cause: Exception | str, next_step: str) -> None:
        why = getattr(cause, "strerror", None) or str(cause)
        self.field = str(place)
        self.problem = " ".join(why.split()) or type(cause).__name__
        self.next_step = next_step
        super().__init__(f"{self.field}: {self.problem}; {next_step}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.field, self.problem, self.next_step)


class RayUnreachable(InfrastructureError, Refusal):
    """No Ray cluster answers at the address given."""

    def __init__(self, address: str, problem: str, next_step: str = "") -> None:
        start = "start one with `ray start --head`, or leave the option out to use this machine"
        Refusal.__init__(self, f"--ray-address {address}", problem, next_step or start)
        self.address = address


class ClusterLost(InfrastructureError):
    """A Ray cluster that was in use stopped answering."""


class Interrupted(Exception):
    """A signal asked a run to stop: it is saved after its last step and can be resumed."""

    def __init__(self, signal: str, step: int, folder: Path) -> None:
        super().__init__(f"{signal}: saved after step {step}; go on with --resume --out {folder}")
        self.step = step


def said(error: BaseException) -> str:
    """The text of an exception on one line. One of the user's own may have none that can be
    read."""
    try:
        return " ".join(str(error).split())
    except BaseException:  # whatever the user's own __str__ raises
        return "its text cannot be read"


def blamed(error: BaseException, path: Path) -> str:
    """What an exception of the user's file says, with the last line of that file that it names:
    `ValueError: no rows (mine.py:3)`."""
    text = f"{type(error).__name__}: {said(error)}".rstrip(": ")
    if isinstance(error, SyntaxError):  # says the line itself
        return text
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename).name == path.name]
    return f"{text} ({path.name}:{lines[-1]})" if lines else text


def closest(word: str, known: Iterable[str], cutoff: float = _CUTOFF) -> list[str]:
    """The known name that is spelled most like `word`, if it is at least `cutoff` alike."""
    return difflib.get_close_matches(word, sorted(known), n=1, cutoff=cutoff)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The next step after a name that nobody knows: `did you mean X?`, or all known names."""
    names = list(known)
    near = closest(word, names)
    return f"did you mean {near[0]}?" if near else f"known: {', '.join(names)}"
