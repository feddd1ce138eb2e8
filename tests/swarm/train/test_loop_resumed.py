"""Six steps are three, a kill and three more, or two, two and two: to the bit."""

import errno
import json
import os
import shutil
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import fsspec
import pytest
from support.tiny_runs import Killed, assert_same_run, in_stretches, kill_at, rows, small, weights

from swarm.disk.folder import (
    CHECKPOINTS,
    EVENTS,
    FINGERPRINT,
    METRICS,
    ROLLOUTS,
    check_seal,
    checkpoints_of,
    read_result,
    read_rows,
)
from swarm.disk.storage import Storage
from swarm.errors import BadStorage, CheckpointsLost, Refusal, WriteFailed
from swarm.policy import checkpoint
from swarm.train.loop import train
from swarm.train.stretches import read_conditions

pytestmark = pytest.mark.usefixtures("tiny_model")

#: Whatever has state of its own: moments, snapshots, references, schedules, levels.
CONFIGS = {
    "default": small(),
    "stale": small(max_staleness=2),
    "kl": small(algorithm__kl_coef=0.1),
    "kl_in_reward": small(algorithm__name="reinforce_pp", sampling__temperature=0.8),
    "warm_up": small(warmup__steps=3),
    "full": small(policy__kind="full", optim__lr=1e-4, algorithm__kl_coef=0.1),
    "difficulty": small(data__order="by_signal"),
    "schedules": small(
        optim__schedule="cosine",
        optim__warmup_steps=2,
        optim__weight_decay=0.1,
        data__order="easy_first",
        data__group_filter="mixed_rewards",
        batch__epochs=2,
        batch__minibatches=2,
        max_staleness=1,
    ),
}


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_a_resumed_run_is_the_run(config, tmp_path: Path) -> None:
    train(config, tmp_path / "straight")
    for kills in ((4,), (3, 5)):
        resumed = in_stretches(config, tmp_path / f"killed-{kills[0]}", *kills)
        assert_same_run(resumed, tmp_path / "straight")
        assert [row["step"] for row in rows(resumed)] == list(range(7))
        kinds = [row["kind"] for row in read_rows(resumed / EVENTS)]
        assert kinds.count("resumed") == len(kills)
        assert kinds.count("started") == 1
        assert check_seal(resumed) == []


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:100])


def listing(folder: Path) -> dict[Path, bytes]:
    """Every file but whose folder it is."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path: path.read_bytes() for path in files if not path.name.startswith(".owner")}


class TestTakingOver:
    def killed(self, folder: Path, step: int = 4) -> Path:
        with pytest.raises(Killed):
            train(small(), folder, on_step=kill_at(step))
        return folder

    def test_the_earlier_folder_is_only_read(self, tmp_path: Path) -> None:
        earlier = self.killed(tmp_path / "1")
        before = {p: p.read_bytes() for p in sorted(earlier.rglob("*")) if p.is_file()}
        train(small(), tmp_path / "2", resume_from=earlier)
        assert {p: p.read_bytes() for p in sorted(earlier.rglob("*")) if p.is_file()} == before

    def test_a_folder_can_go_on_by_itself(self, tmp_path: Path) -> None:
        train(small(), tmp_path / "straight")
        folder = self.killed(tmp_path / "killed")
        train(small(), folder, resume_from=folder)
        assert_same_run(folder, tmp_path / "straight")
        assert check_seal(folder) == []

    def test_a_torn_row_and_a_torn_checkpoint_cost_one_step_more(self, tmp_path: Path) -> None:
        train(small(), tmp_path / "straight")
        earlier = self.killed(tmp_path / "killed")
        for name in (METRICS, ROLLOUTS):
            (earlier / name).write_bytes((earlier / name).read_bytes()[:-20])
        newest = earlier / CHECKPOINTS / "step-000003" / "policy.safetensors"
        newest.write_bytes(newest.read_bytes()[:-1])
        train(small(), tmp_path / "last", resume_from=earlier)
        assert_same_run(tmp_path / "last", tmp_path / "straight")
        (resumed,) = [r for r in read_rows(tmp_path / "last" / EVENTS) if r["kind"] == "resumed"]
        assert resumed["detail"] == {"step": 2}
        (damaged,) = [r for r in read_rows(tmp_path / "last" / EVENTS) if r["kind"] == "damaged"]
        assert damaged["detail"] == {"steps": [3]}

    def test_before_the_first_checkpoint_it_starts_afresh(self, tmp_path: Path) -> None:
        train(small(), tmp_path / "straight")
        earlier = self.killed(tmp_path / "killed", step=1)
        train(small(), tmp_path / "last", resume_from=earlier)
        assert_same_run(tmp_path / "last", tmp_path / "straight")

    @pytest.mark.parametrize(
        ("harm", "says"),
        [
            (
                shutil.rmtree,
                r"nothing, and the run left steps 2 and 3 there \(step 1 it has removed itself\)",
            ),
            (lambda place: [shutil.rmtree(p) for p in place.iterdir()], "no checkpoint is there"),
            (
                lambda place: [cut(p) for p in place.glob("*/policy*")],
                "of steps 2 and 3 there none is whole",
            ),
        ],
        ids=["gone", "emptied", "damaged"],
    )
    def test_checkpoints_that_were_lost_are_not_started_over(
        self, harm: Callable[[Path], object], says: str, tmp_path: Path
    ) -> None:
        """Unless that is asked for. Nothing is erased before."""
        folder = self.killed(tmp_path / "killed")
        harm(folder / CHECKPOINTS)
        before = listing(folder)
        with pytest.raises(CheckpointsLost, match=rf"{folder}/checkpoints .*{says}"):
            train(small(), folder, resume_from=folder)
        assert listing(folder) == before
        train(small(), folder, resume_from=folder, restart="asked for")
        train(small(), tmp_path / "straight")
        assert_same_run(folder, tmp_path / "straight")
        kinds = [row["kind"] for row in read_rows(folder / EVENTS)]
        assert kinds.count("restarted") == 1
        assert read_result(folder).exact

    def test_a_folder_that_is_written_is_refused(self, tmp_path: Path) -> None:
        folder = tmp_path / "run"

        def twice(step: int, _: object) -> None:
            for earlier in (None, folder):
                with pytest.raises(Refusal, match=f"is being written by process {os.getpid()}"):
                    train(small(), folder, resume_from=earlier)

        assert train(small(steps=1), folder, on_step=twice).status == "finished"
        assert check_seal(folder) == []

    def test_another_config_is_refused(self, tmp_path: Path) -> None:
        earlier = self.killed(tmp_path / "killed", step=1)
        with pytest.raises(Refusal, match="killed was trained with another value"):
            train(small(optim__lr=1e-3), tmp_path / "last", resume_from=earlier)
        assert not (tmp_path / "last").exists()

    def test_wall_seconds_go_on(self, tmp_path: Path) -> None:
        """They count all attempts, without the time between."""
        earlier = self.killed(tmp_path / "killed")
        train(small(), tmp_path / "last", resume_from=earlier)
        walls = [row["wall"] for row in read_rows(tmp_path / "last" / METRICS)]
        assert walls == sorted(walls)
        assert weights(tmp_path / "last")


class TestExactness:
    """What a run is trained under stands in its folder; another is allowed, and never silent."""

    def resumed(self, tmp_path: Path, changed: Callable[[Path], None]) -> Path:
        with pytest.raises(Killed):
            train(small(), tmp_path / "run", on_step=kill_at(4))
        changed(tmp_path / "run" / FINGERPRINT)
        train(small(), tmp_path / "run", resume_from=tmp_path / "run")
        return tmp_path / "run"

    def test_under_the_same_it_is_exact(self, tmp_path: Path) -> None:
        folder = self.resumed(tmp_path, lambda _: None)
        assert read_result(folder).exact
        (stretch,) = read_conditions(folder).stretches
        wanted = {"torch", "python", "cpu_capability", "threads", "device", "trainer"}
        assert stretch.step == 0
        assert wanted <= stretch.fingerprint.keys()

    def test_under_another_it_is_not(self, tmp_path: Path) -> None:
        def age(file: Path) -> None:
            document = json.loads(file.read_text())
            document["stretches"][0]["fingerprint"]["torch"] = "2.0.0"
            file.write_text(json.dumps(document))

        folder = self.resumed(tmp_path, age)
        assert not read_result(folder).exact
        assert [stretch.step for stretch in read_conditions(folder).stretches] == [0, 3]
        (noted,) = [r["detail"] for r in read_rows(folder / EVENTS) if r["kind"] == "inexact"]
        assert noted["changed"] == {"torch": ["2.0.0", version("torch")]}
        assert noted["text"] == f"torch 2.0.0 → {version('torch')}"
        assert check_seal(folder) == []

    @pytest.mark.parametrize("text", [None, "{"])
    def test_an_unknown_one_is_not_taken_for_the_same(
        self, tmp_path: Path, text: str | None
    ) -> None:
        """A run that an earlier version began."""
        folder = self.resumed(
            tmp_path, lambda file: file.write_text(text) if text else file.unlink()
        )
        assert not read_result(folder).exact


class TestCheckpointsElsewhere:
    """Kept at a URL, found again from the run folder alone."""

    @pytest.fixture(params=["file", "memory"])
    def place(self, request: pytest.FixtureRequest, tmp_path: Path) -> str:
        return f"{request.param}://{tmp_path}/far"

    def killed(self, folder: Path, place: str, step: int = 4) -> Path:
        with pytest.raises(Killed):
            train(small(), folder, checkpoints=place, on_step=kill_at(step))
        assert not (folder / CHECKPOINTS).exists()
        return folder

    @pytest.mark.parametrize("say_it_again", [True, False])
    def test_a_killed_run_goes_on(self, tmp_path: Path, place: str, say_it_again: bool) -> None:
        train(small(), tmp_path / "straight")
        folder = self.killed(tmp_path / "killed", place)
        again = place if say_it_again else None
        train(small(), folder, resume_from=folder, checkpoints=again)
        assert_same_run(folder, tmp_path / "straight")
        (resumed,) = [r for r in read_rows(folder / EVENTS) if r["kind"] == "resumed"]
        assert resumed["detail"] == {"step": 3}
        assert check_seal(folder) == []

    def test_a_damaged_one_costs_one_step_more(self, tmp_path: Path, place: str) -> None:
        train(small(), tmp_path / "straight")
        folder = self.killed(tmp_path / "killed", place)
        files, root = fsspec.url_to_fs(place)
        newest = f"{root}/step-000003/policy.safetensors"
        files.pipe_file(newest, files.cat_file(newest)[:-1])
        train(small(), folder, resume_from=folder)
        assert_same_run(folder, tmp_path / "straight")
        (resumed,) = [r for r in read_rows(folder / EVENTS) if r["kind"] == "resumed"]
        assert resumed["detail"] == {"step": 2}

    def test_another_attempt_takes_its_own_copy(self, tmp_path: Path, place: str) -> None:
        train(small(), tmp_path / "straight")
        earlier = self.killed(tmp_path / "1", place)
        train(small(), tmp_path / "2", resume_from=earlier)
        assert_same_run(tmp_path / "2", tmp_path / "straight")
        assert (tmp_path / "2" / CHECKPOINTS).exists()

    def test_they_may_be_moved(self, tmp_path: Path) -> None:
        """A run knows its own again, and takes no other's."""
        folder = self.killed(tmp_path / "run", str(tmp_path / "far"))
        self.killed(tmp_path / "other", str(tmp_path / "others"))
        (tmp_path / "far").rename(tmp_path / "near")
        with pytest.raises(CheckpointsLost, match="--checkpoints"):
            train(small(), folder, resume_from=folder)
        with pytest.raises(BadStorage, match="holds those of another run"):
            train(small(), folder, resume_from=folder, checkpoints=str(tmp_path / "others"))
        train(small(), folder, resume_from=folder, checkpoints=str(tmp_path / "near"))
        train(small(), tmp_path / "straight")
        assert_same_run(folder, tmp_path / "straight")
        assert checkpoints_of(folder) == str(tmp_path / "near")

    def test_two_runs_at_one_place(self, tmp_path: Path) -> None:
        """The one that came first stops before it erases what the other has saved."""

        def other(step: int, _: object) -> None:
            if step == 0:
                shutil.rmtree(tmp_path / "far")
                train(small(steps=2), tmp_path / "2", checkpoints=str(tmp_path / "far"))

        with pytest.raises(BadStorage, match="another run keeps its own there"):
            train(small(), tmp_path / "1", checkpoints=str(tmp_path / "far"), on_step=other)
        assert checkpoint.newest(Storage(tmp_path / "far")) == 2

    def test_a_storage_that_fails_is_named(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(*_: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr("swarm.disk.storage.write_atomically", full)
        monkeypatch.setattr("swarm.train.run.write_place", lambda *_: None)
        with pytest.raises(WriteFailed, match=r"run/checkpoints: No space left .* with --resume"):
            train(small(), tmp_path / "run")
        monkeypatch.undo()
        train(small(), tmp_path / "run", resume_from=tmp_path / "run")

    def test_those_of_another_run_are_never_touched(self, tmp_path: Path, place: str) -> None:
        self.killed(tmp_path / "1", place)
        other = tmp_path / "2"
        with pytest.raises(BadStorage, match="holds those of another run"):
            train(small(), other, checkpoints=place)
        assert not other.exists()
        with pytest.raises(Killed):
            train(small(), other, on_step=kill_at(2))
        with pytest.raises(BadStorage, match="holds those of another run"):
            train(small(), other, resume_from=other, checkpoints=place)
        train(small(), tmp_path / "1", resume_from=tmp_path / "1")
