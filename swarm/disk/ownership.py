"""One process at a time writes a run folder.

    .owner-3    who owns the folder, as JSON; its time of change is the owner's heartbeat

Owners are numbered. An owner's file appears with its text, by a hard link that fails where the name
is taken; the next number may be taken once the process behind the highest one has ended or given
the folder back. So two that want it at once cannot both have it, on network disks too, and nothing
has to be cleaned up after a kill. An owner that was replaced while it slept finds its file gone and
writes no further row.
"""

import errno
import json
import os
import re
import tempfile
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from swarm.disk import holder
from swarm.disk.holder import Holder
from swarm.errors import BadFolder, InfrastructureError

_NAME = re.compile(r"\.owner-(\d+)")
_FIRST = ".owner-1"
_TRIES, _PATIENT = 100, 5

#: What passes, and is no fault of the place: a disk that is full or failing.
_PASSING = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO})

#: What filesystems say that know no hard links.
_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS})


@dataclass(frozen=True)
class Ownership:
    """That this process owns `folder`, by its file."""

    folder: Path
    file: Path

    def check(self) -> None:
        """Raise InfrastructureError where another process has taken the folder over."""
        if not self.file.exists():
            raise InfrastructureError(
                f"{self.folder} was taken over by another process while this one was silent"
            )


@contextmanager
def owned(folder: Path) -> Iterator[Ownership]:
    """Own `folder` within the block, made if it is not there. What the block leaves empty and was
    made here is removed again. Raises BadFolder where it cannot be made or written, and where a
    living process owns it: then nothing was touched."""
    made: list[Path] = []
    try:
        ownership = _take(folder, made)
    except OSError as error:
        _remove(made)
        raise _bad(folder, error) from error
    try:
        with holder.beating(partial(_renew, ownership.file), f"owner-{folder.name}"):
            yield ownership
    finally:
        if ownership.file.name == _FIRST and list(folder.iterdir()) == [ownership.file]:
            ownership.file.unlink()
            _remove(made)
        elif ownership.file.exists():
            with suppress(OSError):  # the process ends the ownership as well
                ownership.file.write_text("")


@contextmanager
def unused(names: Iterable[Path]) -> Iterator[Path]:
    """The first of the folders that is not there, made at once, so that of several processes each
    gets its own. What the block leaves empty is removed again. Raises BadFolder."""
    made: list[Path] = []
    folder = next(path for path in names if not path.exists() and _is_new(path, made))
    try:
        yield folder
    finally:
        _remove(made)


def owner_of(folder: Path) -> Holder | None:
    """The living process that owns a folder, as far as this one can tell."""
    newest = _newest(folder)
    if newest is None:
        return None
    try:
        text = newest.read_text(encoding="utf-8")
        silent = _now(folder) - newest.stat().st_mtime > holder.SILENCE
        found = Holder(**json.loads(text))
    except (FileNotFoundError, ValueError, TypeError):
        return None  # given back
    here = Holder.current()
    lost = silent and not found.is_visible(here)
    return None if lost or found.is_dead(here) else found


def check_place(folder: Path) -> None:
    """Raise BadFolder unless `folder` is, or can be made, one that this process may write. Leaves
    nothing behind."""
    nearest = next(path for path in (folder, *folder.absolute().parents) if os.path.lexists(path))
    try:
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OSError as error:
        raise _bad(nearest, error) from error


def _bad(folder: Path, error: OSError) -> Exception:
    """The error as a refusal, unless it may pass: a full disk is no fault of the folder."""
    if error.errno in _PASSING:
        return error
    why = os.strerror(error.errno or 0)
    return BadFolder(f"{folder} is not a folder that can be written ({why})", "choose another one")


def _is_new(folder: Path, made: list[Path]) -> bool:
    """Whether this process has made the folder just now."""
    try:
        _make(folder, made)
    except OSError as error:
        raise _bad(folder, error) from error
    return made[-1:] == [folder]


def _take(folder: Path, made: list[Path]) -> Ownership:
    """Become the folder's next owner. Folders that had to be made are added to `made`."""
    for tried in range(_TRIES):
        try:
            _make(folder, made)
        except FileNotFoundError:  # removed again by one that was refused, or there for good
            if tried == _PATIENT:
                raise
            continue
        before = _newest(folder)
        living = owner_of(folder)
        if living is not None:
            raise BadFolder(
                f"{folder} is being written by {living}", "wait for it, or train into a new folder"
            )
        file = folder / f".owner-{_number(before) + 1}"
        with suppress(FileExistsError, FileNotFoundError):  # another was faster: look again
            _write_new(file)
            if _newest(folder) == file:
                for earlier in range(_number(before), 0, -1):
                    (folder / f".owner-{earlier}").unlink(missing_ok=True)
                return Ownership(folder, file)
            file.unlink(missing_ok=True)
    raise InfrastructureError(f"{folder}: other processes kept taking it and giving it back")


def _make(folder: Path, made: list[Path]) -> None:
    absent = [path for path in (folder, *folder.absolute().parents) if not path.exists()]
    for path in reversed(absent):
        try:
            path.mkdir()
        except FileExistsError:
            if not path.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, "", str(path)) from None
        else:
            made.append(path)


def _remove(made: list[Path]) -> None:
    """Remove the folders that were made, but for those that are in use by now."""
    for path in reversed(made):
        with suppress(OSError):
            path.rmdir()


def _write_new(file: Path) -> None:
    """Write the owner's file, whole from its first moment. Raises FileExistsError."""
    draft = file.with_name(f".owner.{uuid.uuid4().hex}")
    try:
        text = json.dumps(asdict(Holder.current()))
        draft.write_text(text, encoding="utf-8")
        try:
            os.link(draft, file)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            with file.open("x", encoding="utf-8") as alone:
                alone.write(text)
    finally:
        draft.unlink(missing_ok=True)


def _newest(folder: Path) -> Path | None:
    """The file of the folder's last owner."""
    with suppress(FileNotFoundError):
        files = [path for path in folder.iterdir() if _NAME.fullmatch(path.name)]
        return max(files, key=_number, default=None)
    return None


def _number(file: Path | None) -> int:
    found = _NAME.fullmatch(file.name) if file else None
    return int(found[1]) if found else 0


def _now(folder: Path) -> float:
    """The time by the clock that the folder's files are dated with."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            return os.fstat(file.fileno()).st_mtime
    except OSError:  # may not be written: nothing will be taken over here
        return 0.0


def _renew(file: Path) -> None:
    with suppress(OSError):
        os.utime(file)
