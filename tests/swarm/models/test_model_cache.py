"""A made model appears whole or not at all, and is made once."""

import threading
import time
from pathlib import Path

import pytest

from swarm.models.model_cache import WEIGHTS, cache_folder, make_once


def write(folder: Path) -> None:
    (folder / WEIGHTS).write_text("weights")


def test_a_failed_make_leaves_nothing_and_the_next_succeeds(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        write(folder)
        raise RuntimeError("disk full")

    with pytest.raises(RuntimeError, match="disk full"):
        make_once(tmp_path / "model", fail)
    assert [path.name for path in tmp_path.iterdir()] == [".model.lock"]
    assert make_once(tmp_path / "model", write) == tmp_path / "model"
    assert (tmp_path / "model" / WEIGHTS).read_text() == "weights"


def test_what_a_killed_make_left_is_not_mixed_in(tmp_path: Path) -> None:
    stale = tmp_path / ".model.partial"
    stale.mkdir()
    (stale / "half").write_text("")
    model = make_once(tmp_path / "model", write)
    assert [path.name for path in model.iterdir()] == [WEIGHTS]
    assert not stale.exists()


def test_a_folder_without_weights_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    model = make_once(tmp_path / "model", write)
    assert [path.name for path in model.iterdir()] == [WEIGHTS]


def test_one_of_many_makes(tmp_path: Path) -> None:
    made: list[int] = []

    def make(folder: Path) -> None:
        time.sleep(0.1)
        made.append(threading.get_ident())
        write(folder)

    threads = [
        threading.Thread(target=make_once, args=(tmp_path / "model", make)) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1


@pytest.mark.parametrize(
    ("named", "folder"),
    [
        ({"SWARM_CACHE": "/new", "AUTORESEARCH_CACHE": "/old"}, "/new"),
        ({"AUTORESEARCH_CACHE": "/old"}, "/old"),
        ({}, "/home/me/.cache/autoresearch"),
    ],
)
def test_models_made_before_are_found_again(
    named: dict[str, str], folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SWARM_CACHE", "AUTORESEARCH_CACHE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/me", **named}.items():
        monkeypatch.setenv(name, value)
    assert cache_folder() == Path(folder)
