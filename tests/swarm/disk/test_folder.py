"""A run's folder: rows, the seal, and what breaks it."""

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarm.disk import folder
from swarm.disk.folder import (
    ADAPTER,
    CHECKPOINTS,
    EVENTS,
    MANIFEST,
    METRICS,
    RESULT,
    ROLLOUTS,
    Damage,
    RunResult,
    RunWriter,
    check_seal,
    manifest_digest,
    read_result,
    read_rows,
    read_series,
    write_atomically,
    write_rows,
)
from swarm.errors import InfrastructureError

RESULT_OF_RUN = RunResult("finished", 2, 1.5)


@pytest.fixture
def sealed(tmp_path: Path) -> Path:
    """A sealed folder of three metric rows, a rollout, an event, weights and a checkpoint."""
    folder = tmp_path / "run"
    writer = RunWriter(folder)
    for step in range(3):
        writer.metrics(step, step / 2, {"reward/mean": step / 10})
    writer.rollout({"step": 1, "prompt": "R:ab>", "completion": "ba"})
    writer.event("started", digest="abc")
    for name in (f"{ADAPTER}/weights", f"{CHECKPOINTS}/step-1/weights"):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_bytes(b"0123")
    writer.seal(RESULT_OF_RUN)
    return folder


class TestSeal:
    def test_a_sealed_folder_is_whole(self, sealed: Path) -> None:
        assert check_seal(sealed) == []
        assert read_result(sealed) == RESULT_OF_RUN

    def test_its_digest_is_that_of_the_manifest(self, tmp_path: Path) -> None:
        folder = tmp_path / "run"
        digest = RunWriter(folder).seal(RunResult("failed", 0, 1.5))
        assert manifest_digest(folder) == digest

    @pytest.mark.parametrize("steps", [(0, 1), (0, 1, 1, 2), (0, 2, 1, 2), ()])
    def test_rows_that_do_not_lead_to_the_last_step_are_not_sealed(
        self, tmp_path: Path, steps: tuple[int, ...]
    ) -> None:
        """Lost, or those of two runs that wrote here at once."""
        writer = RunWriter(tmp_path)
        for step in steps:
            writer.metrics(step, 0.0, {})
        with pytest.raises(InfrastructureError, match="does not lead in order to step 2"):
            writer.seal(RESULT_OF_RUN)
        assert read_result(tmp_path) is None
        assert manifest_digest(tmp_path) is None

    def test_an_unfinished_folder_has_neither_seal_nor_result(self, tmp_path: Path) -> None:
        RunWriter(tmp_path).metrics(0, 0.0, {})
        assert check_seal(tmp_path) == [Damage(MANIFEST, "unsealed")]
        assert manifest_digest(tmp_path) is None
        assert read_result(tmp_path) is None

    @pytest.mark.parametrize(
        "name", ["config.yaml", f"{ADAPTER}/more", "note.txt", f"{ADAPTER}/.hidden"]
    )
    def test_an_added_file_is_unlisted(self, sealed: Path, name: str) -> None:
        (sealed / name).write_text("x")
        assert check_seal(sealed) == [Damage(name, "unlisted")]

    @pytest.mark.parametrize("name", [METRICS, EVENTS, RESULT, f"{ADAPTER}/weights"])
    def test_a_removed_file_is_missing(self, sealed: Path, name: str) -> None:
        (sealed / name).unlink()
        assert check_seal(sealed) == [Damage(name, "missing")]

    def test_a_changed_file_is_named(self, sealed: Path) -> None:
        (sealed / ADAPTER / "weights").write_bytes(b"0124")
        assert check_seal(sealed) == [Damage(f"{ADAPTER}/weights", "changed")]

    def test_checkpoints_may_come_and_go(self, sealed: Path) -> None:
        (sealed / CHECKPOINTS / "step-1" / "weights").unlink()
        assert check_seal(sealed) == []

    def test_an_unreadable_manifest_is_named(self, sealed: Path) -> None:
        for text in ("{", "{}", "[1]"):
            (sealed / MANIFEST).write_text(text)
            assert check_seal(sealed) == [Damage(MANIFEST, "changed")]


def edit(lines: list[str]) -> list[str]:
    return [lines[0], lines[1].replace("0.1", "0.2"), lines[2]]


def remove(lines: list[str]) -> list[str]:
    return lines[:2]


def add(lines: list[str]) -> list[str]:
    return [*lines, lines[2]]


def swap(lines: list[str]) -> list[str]:
    return [lines[0], lines[2], lines[1]]


@pytest.mark.parametrize(
    ("change", "records"), [(edit, [2]), (remove, [3]), (add, [4]), (swap, [2, 3])]
)
def test_a_changed_record_is_named(
    sealed: Path, change: Callable[[list[str]], list[str]], records: list[int]
) -> None:
    """Counted from 1, as an editor counts lines."""
    lines = (sealed / METRICS).read_text().splitlines(keepends=True)
    (sealed / METRICS).write_text("".join(change(lines)))
    damage = check_seal(sealed)
    assert damage == [Damage(METRICS, "changed", record) for record in records]
    assert str(damage[0]) == f"{METRICS} record {records[0]}: changed"


class TestRows:
    @given(
        rows=st.lists(st.dictionaries(st.text(max_size=4), st.text(max_size=6))),
        data=st.data(),
    )
    def test_a_torn_file_gives_its_whole_rows(
        self, tmp_path_factory: pytest.TempPathFactory, rows: list[dict], data: st.DataObject
    ) -> None:
        """Cut anywhere, inside a character too, a crash costs the row it cut and no other."""
        path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
        write_rows(path, rows)
        whole = path.read_bytes()
        cut = data.draw(st.integers(0, len(whole)))
        path.write_bytes(whole[:cut])
        assert list(read_rows(path)) == rows[: whole[:cut].count(b"\n")]

    def test_no_file_has_no_rows(self, tmp_path: Path) -> None:
        assert list(read_rows(tmp_path / "absent.jsonl")) == []

    def test_a_row_is_on_disk_as_soon_as_it_is_written(self, tmp_path: Path) -> None:
        writer = RunWriter(tmp_path)
        writer.metrics(0, 0.25, {"eval/acc": 0.5, "loss/kl": float("nan")})
        (row,) = read_rows(tmp_path / METRICS)
        assert (row["step"], row["wall"], row["metrics"]["eval/acc"]) == (0, 0.25, 0.5)
        assert row["metrics"]["loss/kl"] != row["metrics"]["loss/kl"]

    def test_a_series_leaves_out_the_steps_without_it(self, tmp_path: Path) -> None:
        writer = RunWriter(tmp_path)
        writer.metrics(0, 0.0, {"eval/acc": 0.25})
        writer.metrics(1, 0.5, {"reward/mean": 1.0})
        writer.metrics(2, 1.0, {"eval/acc": 0.5})
        assert read_series(tmp_path, "eval/acc") == [(0, 0.0, 0.25), (2, 1.0, 0.5)]

    def test_a_second_writer_goes_on_behind_the_first(self, tmp_path: Path) -> None:
        for step in range(2):
            RunWriter(tmp_path).rollout({"step": step})
        assert [row["step"] for row in read_rows(tmp_path / ROLLOUTS)] == [0, 1]


class TestAtomicWrites:
    def test_it_replaces(self, tmp_path: Path) -> None:
        for text in ("one", "two"):
            write_atomically(tmp_path / "file", text)
        assert [p.name for p in tmp_path.iterdir()] == ["file"]
        assert (tmp_path / "file").read_text() == "two"

    def test_a_crash_before_the_rename_leaves_the_old_text(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "file"
        write_atomically(path, "old")

        def crash(_: int) -> None:
            raise OSError("the disk is full")

        monkeypatch.setattr(folder.os, "fsync", crash)
        with pytest.raises(OSError, match="full"):
            write_atomically(path, "new")
        assert path.read_text() == "old"


def test_the_result_is_plain_json(sealed: Path) -> None:
    assert json.loads((sealed / RESULT).read_text()) == {
        "status": "finished",
        "steps": 2,
        "seconds": 1.5,
        "cause": "",
        "exact": True,
    }


def test_what_is_not_finite_is_null(tmp_path: Path) -> None:
    """Strict JSON in every file, NaN again for whoever reads it; earlier files have bare NaN."""

    def refuse(name: str) -> None:
        raise ValueError(name)

    nan, inf = float("nan"), float("inf")
    writer = RunWriter(tmp_path)
    writer.metrics(0, 0.0, {"eval/acc": nan, "loss/kl": inf, "reward/mean": 0.5})
    writer.event("alarm", value=nan)
    writer.rollout({"reward": None, "logprobs": [nan, 1.0]})
    write_rows(tmp_path / "again.jsonl", list(read_rows(tmp_path / METRICS)))
    for name in (METRICS, EVENTS, ROLLOUTS, "again.jsonl"):
        for line in (tmp_path / name).read_text().splitlines():
            json.loads(line, parse_constant=refuse)
    (tmp_path / METRICS).open("a").write('{"step": 1, "wall": 1, "metrics": {"eval/acc": NaN}}\n')
    assert [math.isnan(value) for _, _, value in read_series(tmp_path, "eval/acc")] == [True, True]
    assert [row["detail"]["value"] for row in read_rows(tmp_path / EVENTS)] == [None]
