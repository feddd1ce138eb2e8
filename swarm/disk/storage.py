"""Sets of files that exist as a whole or not at all, on any filesystem that fsspec knows.

    step-000020/            one set
      policy.safetensors    its files, written first
      manifest.json         {file: sha256}, written last

A set without a manifest that matches every file in it does not exist: a process killed between two
files leaves nothing behind. On a local disk each file is synced before it gets its name and the
folder after that, so a set that exists survives a power cut too.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fsspec import AbstractFileSystem
from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem

from swarm.disk.folder import sync_folder, write_atomically
from swarm.errors import BadStorage

MANIFEST = "manifest.json"
PROBE = ".probe"


class Storage:
    """The sets of files below `address`: a path, or a URL such as `file://`, `memory://`, `s3://`.
    Options of a filesystem (credentials, endpoints) come from fsspec's own configuration. Raises
    BadStorage where the address has no known scheme or its package is missing."""

    def __init__(self, address: str | Path) -> None:
        scheme, mark, place = str(address).rpartition("://")
        if not place.strip("/ ") and (mark or not place.strip()):
            raise BadStorage(str(address) or "''", "it names no place", "give a folder or a URL")
        if mark and not scheme:
            raise BadStorage(str(address), "it names no scheme", "write it as file://FOLDER")
        self.address = str(address if "://" in str(address) else Path(address).absolute())
        try:
            found: tuple[AbstractFileSystem, str] = url_to_fs(self.address)
        except Exception as error:  # every filesystem has errors of its own
            next_step = "correct the URL, or install its package"
            raise BadStorage(self.address, error, next_step) from None
        self._files, self._root = found[0], found[1].rstrip("/")

    def is_at(self, other: "Storage") -> bool:
        """Whether both are the same place."""
        return (self._files, self._root) == (other._files, other._root)

    def check_writable(self) -> None:
        """Write a file and remove it. Raises BadStorage where that fails."""
        try:
            self.write(PROBE, [])
            self.remove(PROBE)
        except Exception as error:  # every filesystem has errors of its own
            raise BadStorage(self.address, error, "give a place that can be written to") from None

    def write(self, name: str, files: Iterable[tuple[str, bytes]]) -> None:
        """Write the set `name`, in place of an earlier one. `files` are taken one by one. Raises
        what the filesystem raises."""
        self.remove(name)
        hashes = {}
        for file, data in files:
            self._put(f"{name}/{file}", data)
            hashes[file] = hashlib.sha256(data).hexdigest()
        self._put(f"{name}/{MANIFEST}", json.dumps(hashes, indent=0, sort_keys=True).encode())

    def exists(self) -> bool:
        """Whether there is anything at the address. Raises BadStorage where that is not known."""
        self._files.invalidate_cache()
        with self._reading():
            return bool(self._files.exists(self._root))

    def names(self) -> list[str]:
        """Every set and every remainder of one, sorted by name. Raises BadStorage where they
        cannot be listed."""
        self._files.invalidate_cache()
        try:
            with self._reading():
                found: list[str] = self._files.ls(self._root, detail=False)
        except FileNotFoundError:
            return []
        return sorted(path.rstrip("/").rpartition("/")[2] for path in found)

    def is_written(self, name: str) -> bool:
        """Whether a set was written to its end; it may be damaged since."""
        return self._get(f"{name}/{MANIFEST}") is not None

    def hashes(self, name: str) -> dict[str, str] | None:
        """The sha256 of each file in a set, or None when the set does not exist."""
        hashes = self._manifest(name)
        whole = hashes is not None and all(
            self._matches(self._get(f"{name}/{file}"), digest) for file, digest in hashes.items()
        )
        return hashes if whole else None

    def read(self, name: str, file: str) -> bytes:
        """A file of a set. Raises FileNotFoundError when the set does not hold it as written."""
        data = self._get(f"{name}/{file}")
        if data is None or not self._matches(data, (self._manifest(name) or {}).get(file)):
            raise FileNotFoundError(f"{self.address}/{name}/{file} is missing or damaged")
        return data

    def remove(self, name: str) -> None:
        """Remove a set, its manifest first."""
        self._files.invalidate_cache()
        for path in (f"{self._root}/{name}/{MANIFEST}", f"{self._root}/{name}"):
            if self._files.exists(path):
                self._files.rm(path, recursive=True)

    def copy_from(self, other: "Storage", name: str) -> None:
        """Copy a set of another storage. Raises FileNotFoundError where it does not exist there."""
        hashes = other.hashes(name)
        if hashes is None:
            raise FileNotFoundError(f"{other.address}/{name} does not exist")
        self.write(name, ((file, other.read(name, file)) for file in hashes))

    def _manifest(self, name: str) -> dict[str, str] | None:
        data = self._get(f"{name}/{MANIFEST}")
        try:
            hashes = json.loads(data or b"null")
        except ValueError:
            return None
        return hashes if isinstance(hashes, dict) else None

    def _get(self, path: str) -> bytes | None:
        try:
            with self._reading():
                data: bytes = self._files.cat_file(f"{self._root}/{path}")
        except (FileNotFoundError, NotADirectoryError):
            return None
        return data

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """What cannot be read is not what is not there."""
        try:
            yield
        except (FileNotFoundError, NotADirectoryError):
            raise
        except Exception as error:  # every filesystem has errors of its own
            raise BadStorage(self.address, error, "make it readable, then try again") from None

    def _put(self, path: str, data: bytes) -> None:
        whole = f"{self._root}/{path}"
        if isinstance(self._files, LocalFileSystem):
            file = Path(whole)
            file.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(file, data)
            sync_folder(file.parent.parent)
            return
        self._files.makedirs(whole.rpartition("/")[0], exist_ok=True)
        self._files.pipe_file(whole, data)

    @staticmethod
    def _matches(data: bytes | None, digest: str | None) -> bool:
        return data is not None and hashlib.sha256(data).hexdigest() == digest
