"""Six steps are three, a kill and three more, or two, two and two: to the bit."""

import shutil
from pathlib import Path

import fsspec
import pytest
from support.tiny_runs import Killed, assert_same_run, in_stretches, kill_at, rows, small, weights

from swarm.disk.folder import CHECKPOINTS, EVENTS, METRICS, ROLLOUTS, check_seal, read_rows
from swarm.errors import BadStorage, Refusal
from swarm.train.loop import train

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

    def test_without_a_checkpoint_it_starts_afresh(self, tmp_path: Path) -> None:
        train(small(), tmp_path / "straight")
        earlier = self.killed(tmp_path / "killed")
        shutil.rmtree(earlier / CHECKPOINTS)
        train(small(), tmp_path / "last", resume_from=earlier)
        assert_same_run(tmp_path / "last", tmp_path / "straight")

    def test_another_config_is_refused(self, tmp_path: Path) -> None:
        earlier = self.killed(tmp_path / "killed", step=1)
        with pytest.raises(Refusal, match="killed was trained with another config"):
            train(small(optim__lr=1e-3), tmp_path / "last", resume_from=earlier)
        assert not (tmp_path / "last").exists()

    def test_wall_seconds_go_on(self, tmp_path: Path) -> None:
        """They count all attempts, without the time between."""
        earlier = self.killed(tmp_path / "killed")
        train(small(), tmp_path / "last", resume_from=earlier)
        walls = [row["wall"] for row in read_rows(tmp_path / "last" / METRICS)]
        assert walls == sorted(walls)
        assert weights(tmp_path / "last")


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
