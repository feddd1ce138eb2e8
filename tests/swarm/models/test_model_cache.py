"""A made model appears whole or not at all, and is made once."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import save

from swarm.errors import ModelUnavailable
from swarm.models import smollm2
from swarm.models.model_cache import WEIGHTS, cache_folder, is_made, make_once

#: The smallest weights there are.
MODEL = save({"w": torch.zeros(3)}, {"format": "pt"})

MAKE = """
import sys, time
from pathlib import Path
from swarm.models.model_cache import make_once
def make(folder):
    with Path(sys.argv[1], "made").open("a") as made:
        made.write("1")
    time.sleep(0.3)
    Path(folder, "model.safetensors").write_bytes(Path(sys.argv[1], "source").read_bytes())
make_once(Path(sys.argv[1], "model"), make)
"""


def write(folder: Path) -> None:
    (folder / WEIGHTS).write_bytes(MODEL)


def test_a_failed_make_leaves_nothing_and_the_next_succeeds(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        write(folder)
        raise RuntimeError("disk full")

    with pytest.raises(RuntimeError, match="disk full"):
        make_once(tmp_path / "model", fail)
    assert [path.name for path in tmp_path.iterdir()] == [".model.lock"]
    assert make_once(tmp_path / "model", write) == tmp_path / "model"
    assert (tmp_path / "model" / WEIGHTS).read_bytes() == MODEL


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


def test_one_of_many_processes_makes(tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(MODEL)
    command = [sys.executable, "-c", MAKE, str(tmp_path)]
    others = [subprocess.Popen(command) for _ in range(3)]
    assert [other.wait() for other in others] == [0, 0, 0]
    assert (tmp_path / "made").read_text() == "1"
    assert is_made(tmp_path / "model")


@pytest.mark.parametrize(
    "harm",
    [lambda data: data[:-1], lambda data: data[:4], lambda data: bytes(200), lambda data: b""],
    ids=["cut", "no header", "zeros", "empty"],
)
def test_damaged_weights_are_made_again(tmp_path: Path, harm: Callable[[bytes], bytes]) -> None:
    model = make_once(tmp_path / "model", write)
    (model / WEIGHTS).write_bytes(harm(MODEL))
    assert not is_made(model)
    assert (make_once(model, write) / WEIGHTS).read_bytes() == MODEL


def test_a_user_without_a_home_has_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SWARM_CACHE", "AUTORESEARCH_CACHE"):
        monkeypatch.delenv(name, raising=False)

    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nowhere)
    with pytest.raises(ModelUnavailable, match="set SWARM_CACHE"):
        cache_folder()
    assert not smollm2.is_present()


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
