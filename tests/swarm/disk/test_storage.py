"""A set of files is there as a whole or not at all, wherever it is kept."""

import json
import os
import uuid
from collections.abc import Callable
from pathlib import Path

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from swarm.disk.storage import MANIFEST, Storage
from swarm.errors import BadStorage

FILES = (("a.bin", b"first" * 9), ("b.bin", b"second"), ("c.json", b"{}"))
SCHEMES = ("file", "memory")


@pytest.fixture(params=SCHEMES)
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    return Storage(f"{request.param}://{tmp_path}/{uuid.uuid4()}")


def rewrite(storage: Storage, path: str, change: Callable[[bytes], bytes | None]) -> None:
    """Change a file behind the storage's back; None removes it."""
    files, root = fsspec.url_to_fs(storage.address)
    data = change(files.cat_file(f"{root}/{path}"))
    files.rm(f"{root}/{path}")
    if data is not None:
        files.pipe_file(f"{root}/{path}", data)


def cut_short(data: bytes) -> bytes:
    return data[:-1]


def flip_a_bit(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 1])


def remove(data: bytes) -> None:
    return None


def test_what_was_written_is_read(storage: Storage) -> None:
    storage.write("one", FILES)
    assert storage.names() == ["one"]
    assert (storage.hashes("one") or {}).keys() == dict(FILES).keys()
    assert {name: storage.read("one", name) for name, _ in FILES} == dict(FILES)


@pytest.mark.parametrize("harm", [cut_short, flip_a_bit, remove])
@pytest.mark.parametrize("name", [name for name, _ in FILES])
def test_a_damaged_file_undoes_the_set(
    storage: Storage, name: str, harm: Callable[[bytes], bytes | None]
) -> None:
    storage.write("one", FILES)
    rewrite(storage, f"one/{name}", harm)
    assert storage.hashes("one") is None
    with pytest.raises(FileNotFoundError, match="missing or damaged"):
        storage.read("one", name)


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"\xff", b'"a.bin"', b"null"])
def test_a_broken_manifest_undoes_the_set(storage: Storage, text: bytes) -> None:
    storage.write("one", FILES)
    rewrite(storage, f"one/{MANIFEST}", lambda _: text)
    assert storage.hashes("one") is None
    with pytest.raises(FileNotFoundError):
        storage.read("one", "a.bin")


def test_a_wrong_hash_undoes_the_set(storage: Storage) -> None:
    storage.write("one", FILES)

    def other_hash(data: bytes) -> bytes:
        return json.dumps({**json.loads(data), "b.bin": "0" * 64}).encode()

    rewrite(storage, f"one/{MANIFEST}", other_hash)
    assert storage.hashes("one") is None


class Killed(Exception):
    """What stands for a killed process."""


@pytest.fixture
def kill_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Kills the process at its n-th write from now: on disk at a sync or a rename, in memory with
    half of the data written."""
    left = 0

    def count_down() -> bool:
        nonlocal left
        left -= 1
        return left == 0

    sync, rename, pipe = os.fsync, Path.replace, MemoryFileSystem.pipe_file

    def fsync(descriptor: int) -> None:
        if count_down():
            raise Killed
        sync(descriptor)

    def replace(self: Path, target: Path) -> Path:
        if count_down():
            raise Killed
        return rename(self, target)

    def pipe_file(self: MemoryFileSystem, path: str, data: bytes, **more: object) -> None:
        if count_down():
            pipe(self, path, data[: len(data) // 2])
            raise Killed
        pipe(self, path, data)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "replace", replace)
    monkeypatch.setattr(MemoryFileSystem, "pipe_file", pipe_file)

    def at(number: int) -> None:
        nonlocal left
        left = number

    return at


#: On disk a file is synced and renamed and its two folders synced.
KILLS = [("file", n) for n in range(1, 4 * (len(FILES) + 1) + 1)]
KILLS += [("memory", n) for n in range(1, len(FILES) + 2)]


@pytest.mark.parametrize(("scheme", "number"), KILLS)
def test_a_kill_between_files_leaves_nothing_or_all(
    scheme: str, number: int, tmp_path: Path, kill_at: Callable[[int], None]
) -> None:
    """And the set before is as it was. All is there from the moment the manifest has its name."""
    storage = Storage(f"{scheme}://{tmp_path}/{uuid.uuid4()}")
    storage.write("1", FILES)
    kill_at(number)
    with pytest.raises(Killed):
        storage.write("2", FILES)
    named = 4 * len(FILES) + 2 if scheme == "file" else len(FILES) + 1
    assert (storage.hashes("2") is not None) == (number > named)
    assert storage.hashes("1") is not None
    assert storage.read("1", "a.bin") == FILES[0][1]
    kill_at(0)
    storage.write("2", FILES)
    assert storage.hashes("2") is not None


def test_removing(storage: Storage) -> None:
    storage.write("one", FILES)
    storage.write("two", FILES)
    storage.remove("one")
    storage.remove("absent")
    assert storage.names() == ["two"]
    assert not storage.is_written("one")


def test_copying_between_filesystems(tmp_path: Path) -> None:
    disk, memory = Storage(tmp_path), Storage(f"memory://{uuid.uuid4()}")
    disk.write("one", FILES)
    memory.copy_from(disk, "one")
    assert memory.hashes("one") == disk.hashes("one")
    with pytest.raises(FileNotFoundError, match="two does not exist"):
        memory.copy_from(disk, "two")


def test_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    here = Storage(tmp_path / "a")
    assert here.is_at(Storage(f"file://{tmp_path}/a/"))
    assert here.is_at(Storage("a"))
    assert not here.is_at(Storage(tmp_path / "b"))
    assert not here.is_at(Storage(f"memory://{tmp_path}/a"))


class TestBadAddress:
    def test_an_unknown_scheme(self) -> None:
        with pytest.raises(BadStorage, match=r"nowhere://x cannot be used .*; correct the URL"):
            Storage("nowhere://x")

    def test_a_place_that_cannot_be_written_to(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(BadStorage, match="give a place that can be written to"):
            Storage(tmp_path / "file").check_writable()

    def test_a_check_leaves_nothing(self, storage: Storage) -> None:
        storage.check_writable()
        assert storage.names() == []
