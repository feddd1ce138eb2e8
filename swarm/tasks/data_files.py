"""Rows as they lie in a file or folder: JSON, CSV, Parquet, what Hugging Face `datasets` saves."""

import csv
import hashlib
import io
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swarm.config.base import canonical_digest
from swarm.errors import BadTask, did_you_mean
from swarm.tasks.refs import DATA_SUFFIXES
from swarm.tasks.tables import arrow_rows, parquet_rows

#: The split of a saved data set that is read where none is named.
TRAIN = "train"

Raw = Mapping[str, Any]
Numbered = tuple[tuple[int, Raw], ...]

#: What stands at the beginning of files that are no text.
_MAGIC = {b"PAR1": ".parquet", b"ARROW1": ".arrow", b"\xff\xff\xff\xff": ".arrow"}


#: What JSON counts as white space.
_SPACE = " \t\r\n"


@dataclass(frozen=True)
class RawRows:
    """Rows by their number, which counts from 1 (a JSONL file's lines), the sha256 of what they
    were read from, and what to call that."""

    rows: Numbered
    digest: str
    name: str


def read(path: Path, split: str = "") -> RawRows:
    """The rows of a file, or of one split of a folder. A file's digest is the sha256 of its bytes,
    a folder's is over its files' names and digests. Raises BadTask naming the row or line."""
    if os.path.isdir(path):  # noqa: PTH112 - of a name that no file can have, too
        return _of_files(path, _split_files(path, split))
    if not os.path.isfile(path):  # noqa: PTH113
        raise BadTask(
            f"there is no file {path}", f"give the path of rows ({', '.join(DATA_SUFFIXES)})"
        )
    if split:
        raise BadTask(f"{path.name} is one file, without splits", "leave it out", "task.split")
    data = _bytes(path)
    return RawRows(tuple(_rows(path, data)), hashlib.sha256(data).hexdigest(), path.name)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadTask(f"{path} cannot be read ({error.strerror})", "see to its rights") from None


def _of_files(folder: Path, files: list[Path]) -> RawRows:
    """The rows of several files, numbered through."""
    rows: list[tuple[int, Raw]] = []
    parts = []
    for path in files:
        data = _bytes(path)
        before = rows[-1][0] if rows else 0
        rows += [(before + number, raw) for number, raw in _rows(path, data)]
        parts.append([path.relative_to(folder).as_posix(), hashlib.sha256(data).hexdigest()])
    return RawRows(tuple(rows), canonical_digest(parts), folder.name)


def _split_files(folder: Path, split: str) -> list[Path]:
    """The files that hold a split: of `Dataset.save_to_disk`, of `DatasetDict.save_to_disk`, or
    those whose name begins with it, as data sets lie on the hub."""
    if (folder / "state.json").is_file():
        saved = _object(folder / "state.json")
        if split and split != saved.get("_split"):
            raise BadTask(f"{folder.name} is a single split", "leave it out", "task.split")
        return _saved(folder, saved)
    wanted = split or TRAIN
    if (folder / "dataset_dict.json").is_file():
        known = [str(name) for name in _object(folder / "dataset_dict.json").get("splits") or ()]
        part = folder / wanted
        if wanted not in known or not (part / "state.json").is_file():
            _no_split(folder, wanted, known)
        return _saved(part, _object(part / "state.json"))
    files = sorted(p for p in folder.rglob("*") if p.suffix in DATA_SUFFIXES and p.is_file())
    found = [p for p in files if _names(p.relative_to(folder)) == wanted]
    if not found:
        _no_split(folder, wanted, sorted({_names(p.relative_to(folder)) for p in files}))
    if len({p.parent for p in found}) > 1:
        raise BadTask(
            f"{folder.name} has {wanted!r} in several folders "
            f"({', '.join(sorted({p.parent.name for p in found}))})",
            "name one of them in task.ref",
        )
    return found


def _names(path: Path) -> str:
    """The split that a file's place below its folder names: `train-00000-of-00002.parquet`,
    `train/0000.parquet`."""
    name = path.stem.partition("-")[0]
    return path.parent.name if name.isdigit() else name


def _no_split(folder: Path, split: str, known: list[str]) -> None:
    if not known:
        raise BadTask(
            f"the folder {folder} holds no rows",
            f"give one that `datasets` saved, or with files train{DATA_SUFFIXES[3]}, test…",
        )
    raise BadTask(f"{folder.name} has no split {split!r}", did_you_mean(split, known), "task.split")


def _saved(folder: Path, state: Mapping[str, Any]) -> list[Path]:
    """The Arrow files of a saved split, in order."""
    names = [str(file["filename"]) for file in state.get("_data_files") or ()]
    missing = [name for name in names if not (folder / name).is_file()]
    if state.get("_indices_data_files") or missing or not names:
        why = f"lacks {missing[0]}" if missing else "is of an old version of `datasets`"
        raise BadTask(f"{folder} {why}", "save it again with save_to_disk")
    return [folder / name for name in names]


def _object(path: Path) -> Mapping[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise BadTask(f"{path} is damaged", "save the data set again with save_to_disk")
    return value


def _rows(path: Path, data: bytes) -> Iterator[tuple[int, Raw]]:
    """The rows of a file by its suffix. Raises BadTask where the content is of another kind."""
    is_of = next((kind for magic, kind in _MAGIC.items() if data.startswith(magic)), None)
    named = path.suffix
    if named == ".parquet" and is_of == named:
        return parquet_rows(path.name, data)
    if named == ".arrow" and is_of == named:
        return arrow_rows(path.name, data)
    if is_of or named in (".parquet", ".arrow"):
        _mistaken(path, is_of or _text_kind(data), data)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in data:
        utf = "UTF-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "UTF-16 or no text"
        raise BadTask(f"{path.name} is {utf}", "save it as UTF-8")
    if named == ".csv":
        return _csv(path, data)
    if named == ".json" and _text_kind(data) == named:
        return _array(path, data)
    if _text_kind(data) == ".json" and _is_array_of_rows(data):
        _mistaken(path, ".json", data)
    return _lines(path, data)


def _text_kind(data: bytes) -> str:
    """`.json` for what begins as an array does, `.jsonl` for an object."""
    first = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return {b"[": ".json", b"{": ".jsonl"}.get(first, "")


def _mistaken(path: Path, kind: str, data: bytes) -> None:
    what = {
        ".parquet": "is a Parquet file",
        ".arrow": "is an Arrow file",
        ".json": "is a JSON array",
        ".jsonl": "holds JSON objects",
    }.get(kind, f"is no {path.suffix.removeprefix('.')} file" if data else "is empty")
    step = f"rename it to {path.stem}{kind}" if kind else "give the file as it was saved"
    raise BadTask(f"{path.name} {what}", step)


def _is_array_of_rows(data: bytes) -> bool:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return bool(value) and all(isinstance(element, dict) for element in value)


def _array(path: Path, data: bytes) -> Iterator[tuple[int, Raw]]:
    """The elements of a JSON array, one after the other, so that an error has its number."""
    text = _text(path, data)
    decoder = json.JSONDecoder(object_pairs_hook=_once_each)
    place, number = _next(text, text.index("[") + 1), 0
    while number or text[place : place + 1] != "]":
        number += 1
        try:
            value, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError) as error:
            problem = f"{path.name} row {number} is not JSON ({error})"
            raise BadTask(problem, "correct it") from None
        yield number, _row_object(f"{path.name} row {number}", value)
        place = _next(text, place)
        if text[place : place + 1] != ",":
            break
        place = _next(text, place + 1)
    if text[place : place + 1] != "]" or text[place + 1 :].strip(_SPACE):
        raise BadTask(f"{path.name} is not JSON behind row {number}", "correct it")


def _next(text: str, place: int) -> int:
    """The place of the first character from here on that is no white space of JSON."""
    while text[place : place + 1] and text[place] in _SPACE:
        place += 1
    return place


def _text(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadTask(f"{path.name} line {line} is not UTF-8", "save it as UTF-8") from None


def _row_object(where: str, value: Any) -> Raw:
    if not isinstance(value, dict):
        raise BadTask(f"{where} is not a JSON object", 'write {"prompt": …, …}')
    return value


def _lines(path: Path, data: bytes) -> Iterator[tuple[int, Raw]]:
    """One object a line; empty lines are skipped, and counted."""
    for number, line in enumerate(data.splitlines(), 1):
        if line.strip():
            yield number, _parsed(path, number, line)


def _parsed(path: Path, number: int, line: bytes) -> Raw:
    try:
        value = json.loads(line, object_pairs_hook=_once_each)
    except (ValueError, RecursionError) as error:
        raise BadTask(f"{path.name} line {number} is not JSON ({error})", "correct it") from None
    return _row_object(f"{path.name} line {number}", value)


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys differ. Raises ValueError: of two values JSON says not which counts."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} stands twice")
    return found


def _csv(path: Path, data: bytes) -> Iterator[tuple[int, Raw]]:
    """One record a row, below a line of names; every value is text."""
    csv.field_size_limit(max(csv.field_size_limit(), len(data)))  # of the process: 128 kB at first
    records = csv.reader(io.StringIO(_text(path, data), newline=""), strict=True)
    names: list[str] | None = None
    number = 0
    try:
        for record in records:
            if not record:
                continue
            if names is None:
                names = record
                if len(set(names)) < len(names):
                    raise BadTask(f"{path.name} names a column twice", "rename one of them")
                continue
            number += 1
            if len(record) != len(names):
                raise BadTask(
                    f"{path.name}: row {number} has {len(record)} values for {len(names)} columns",
                    "correct it; quote a value that holds a comma",
                )
            yield number, dict(zip(names, record, strict=True))
    except csv.Error as error:
        raise BadTask(f"{path.name}: row {number + 1} is not CSV ({error})", "correct it") from None
