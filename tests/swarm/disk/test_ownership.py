"""A run folder has one owner at a time, among real processes."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from swarm.disk import holder
from swarm.disk.holder import SILENCE, Holder
from swarm.disk.ownership import check_place, owned, owner_of
from swarm.errors import BadFolder, InfrastructureError

OWN = """
import sys, time
from pathlib import Path
from swarm.disk.ownership import owned
from swarm.errors import BadFolder
while time.time() < float(sys.argv[2]):
    pass
try:
    with owned(Path(sys.argv[1])):
        print("owned", flush=True)
        sys.stdin.readline()
except BadFolder as error:
    print(error, flush=True)
"""

NEW = """
import sys, time
from itertools import count
from pathlib import Path
from swarm.disk.ownership import unused
while time.time() < float(sys.argv[2]):
    pass
with unused(Path(sys.argv[1]) / str(number) for number in count()) as folder:
    (folder / "row").write_text("")
    print(folder.name)
"""


def process(program: str, folder: Path, at: float = 0.0) -> subprocess.Popen[str]:
    """A process that goes for the folder at a moment in Unix time."""
    command = [sys.executable, "-c", program, str(folder), str(at)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)


def first_line(of: subprocess.Popen[str]) -> str:
    assert of.stdout is not None
    return of.stdout.readline().strip()


@pytest.fixture
def owner(tmp_path: Path):
    """A process that owns the folder `run`."""
    other = process(OWN, tmp_path / "run")
    assert first_line(other) == "owned"
    yield other
    other.kill()
    other.communicate()


def silent(folder: Path, **changes: object) -> Path:
    """The folder, owned by a changed process whose last beat was long ago."""
    folder.mkdir()
    file = folder / ".owner-1"
    file.write_text(json.dumps(asdict(replace(Holder.current(), **changes))))
    os.utime(file, (0, 0))
    return folder


@pytest.mark.parametrize("taken_before", [False, True])
def test_of_many_at_once_one_owns_it(tmp_path: Path, taken_before: bool) -> None:
    folder = tmp_path / "run"
    if taken_before:  # by a process that is gone
        silent(folder, started="1")
    at = time.time() + 1.5
    others = [process(OWN, folder, at) for _ in range(6)]
    said = sorted(first_line(other) for other in others)
    for other in others:
        other.communicate("\n")
    assert said.count("owned") == 1
    assert all("is being written by process" in line for line in said if line != "owned")
    assert len(list(folder.iterdir()) if folder.exists() else []) <= 1


def test_without_a_name_each_gets_a_folder(tmp_path: Path) -> None:
    at = time.time() + 1.5
    others = [process(NEW, tmp_path / "runs", at) for _ in range(4)]
    assert sorted(other.communicate()[0].strip() for other in others) == ["0", "1", "2", "3"]


def test_a_killed_owner_is_replaced_at_once(tmp_path: Path, owner: subprocess.Popen[str]) -> None:
    with pytest.raises(BadFolder, match=f"process {owner.pid}"), owned(tmp_path / "run"):
        pass
    owner.send_signal(signal.SIGSTOP)
    with pytest.raises(BadFolder), owned(tmp_path / "run"):
        pass
    owner.kill()
    owner.wait()
    assert owner_of(tmp_path / "run") is None
    with owned(tmp_path / "run") as ownership:
        assert owner_of(tmp_path / "run") == Holder.current()
        ownership.check()


def test_a_folder_given_back_is_free(tmp_path: Path) -> None:
    for _ in range(3):
        with owned(tmp_path / "run"):
            (tmp_path / "run" / "row").touch()
        assert owner_of(tmp_path / "run") is None
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [".owner-3", "row"]


def test_an_owner_elsewhere_is_replaced_only_after_silence(tmp_path: Path) -> None:
    folder = silent(tmp_path / "run", host="elsewhere", boot="another-boot")
    os.utime(folder / ".owner-1", (time.time() - SILENCE / 2,) * 2)
    with pytest.raises(BadFolder, match="elsewhere"), owned(folder):
        pass
    os.utime(folder / ".owner-1", (time.time() - 2 * SILENCE,) * 2)
    with owned(folder):
        pass


def test_an_owner_here_is_never_replaced_for_silence(tmp_path: Path) -> None:
    with pytest.raises(BadFolder), owned(silent(tmp_path / "run")):
        pass


def test_an_owner_that_was_replaced_writes_no_more(tmp_path: Path) -> None:
    with owned(tmp_path / "run") as sleeper:
        (sleeper.file).write_text(json.dumps(asdict(replace(Holder.current(), started="1"))))
        with owned(tmp_path / "run"), pytest.raises(InfrastructureError, match="taken over"):
            sleeper.check()


def test_the_heartbeat_beats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holder, "BEAT", 0.02)
    with owned(tmp_path / "run") as ownership:
        beats: set[float] = set()
        while len(beats) < 3:
            beats.add(ownership.file.stat().st_mtime)


def test_what_is_left_empty_was_never_there(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), owned(tmp_path / "a" / "b"):
        raise RuntimeError
    assert not (tmp_path / "a").exists()
    (tmp_path / "mine").mkdir()
    with owned(tmp_path / "mine"):
        pass
    assert list((tmp_path / "mine").iterdir()) == []


@pytest.mark.parametrize("place", ["loop", "file", "file/run", "/proc/run", "x" * 300])
def test_a_place_that_can_be_no_folder(tmp_path: Path, place: str) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "file").write_text("")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(BadFolder, match="is not a folder that"), owned(tmp_path / place):
        pass
    if len(place) < 300:
        with pytest.raises(BadFolder, match="is not a folder that can be written"):
            check_place(tmp_path / place)
    assert sorted(tmp_path.iterdir()) == before
