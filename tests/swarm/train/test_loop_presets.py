"""Whole runs of the presets that have state or data of their own."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from support.tiny_runs import assert_same_run, in_stretches, rows, small

from swarm.algorithms import NAMES
from swarm.config.train import TrainConfig
from swarm.disk.folder import CHECKPOINTS, ROLLOUTS, read_rows
from swarm.disk.storage import Storage
from swarm.policy import checkpoint
from swarm.train.loop import train

pytestmark = pytest.mark.usefixtures("tiny_model")

#: Value heads, pairs, demonstrations, replacements, anchors.
CONFIGS = {
    "ppo": small(algorithm__name="ppo", batch__epochs=2, optim__schedule="linear"),
    "dpo": small(algorithm__name="dpo", max_staleness=3),
    "sft": small(algorithm__name="sft", warmup__steps=2, batch__minibatches=2),
    "dapo": small(algorithm__name="dapo", batch__minibatches=2),
    "decoupled": small(
        algorithm__anchor="batch_start",
        algorithm__correction__kind="decoupled",
        batch__epochs=2,
        max_staleness=2,
    ),
}


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_a_resumed_run_is_the_run(config: TrainConfig, tmp_path: Path) -> None:
    train(config, tmp_path / "straight")
    resumed = in_stretches(config, tmp_path / "killed", 3, 5)
    assert_same_run(resumed, tmp_path / "straight")


def last(folder: Path) -> dict[str, float]:
    return rows(folder)[-1]


@pytest.mark.parametrize("name", NAMES)
def test_every_preset_runs_and_reports_what_it_has(name: str, tmp_path: Path) -> None:
    config = small(algorithm__name=name, steps=2, batch__epochs=2, optim__lr=1e-3)
    assert train(config, tmp_path).status == "finished"
    found = last(tmp_path)
    assert {"eval/acc", "loss/policy", "policy/entropy", "optim/lr", "tokens/trained"} <= set(found)
    sampled = {"reward/mean", "data/groups_dropped", "completions/mean_length"}
    assert (sampled <= set(found)) == config.algorithm.samples
    ratios = {"policy/ratio_max", "mismatch/kl", "mismatch/ess", "mismatch/masked_frac"}
    assert (ratios <= set(found)) == (name not in ("sft", "dpo"))
    assert ("dpo/margin" in found and "dpo/acc" in found) == (name == "dpo")
    assert ("loss/value" in found) == (name == "ppo")
    assert ("data/groups_resampled" in found) == (name == "dapo")


class TestPpo:
    def test_the_value_head_has_parameters_and_moments_in_the_checkpoint(
        self, tmp_path: Path
    ) -> None:
        train(small(algorithm__name="ppo", steps=3), tmp_path)
        assert checkpoint.newest(Storage(tmp_path / CHECKPOINTS)) == 3
        newest = tmp_path / CHECKPOINTS / "step-000003"
        names = {n for n in load_file(newest / checkpoint.POLICY) if n.startswith("value_head.")}
        assert names
        moments = load_file(newest / checkpoint.OPTIMIZER)
        assert {f"{name}|exp_avg_sq" for name in names} <= set(moments)
        assert all(moments[f"{name}|exp_avg_sq"].any() for name in names)

    def test_it_stays_out_of_the_exported_adapter(self, tmp_path: Path) -> None:
        train(small(algorithm__name="ppo", steps=1), tmp_path)
        exported = load_file(tmp_path / "adapter" / "adapter_model.safetensors")
        assert all("lora_" in name for name in exported)

    def test_the_head_learns(self, tmp_path: Path) -> None:
        train(small(algorithm__name="ppo", steps=12, algorithm__kl_coef=0.0), tmp_path)
        losses = [row["loss/value"] for row in rows(tmp_path) if "loss/value" in row]
        assert sum(losses[-3:]) < sum(losses[:3])


class TestSft:
    def test_it_is_the_warm_up_with_a_schedule(self, tmp_path: Path) -> None:
        """The same rows, loss and optimizer: two steps of either end in the same weights."""
        train(small(algorithm__name="sft", steps=2, batch__rollouts=32), tmp_path / "sft")
        train(small(steps=1, warmup__steps=2, warmup__lr=5e-3, checkpoint_every=1), tmp_path / "rl")
        warm = rows(tmp_path / "rl")[0]
        assert rows(tmp_path / "sft")[-1]["eval/acc"] == warm["eval/acc"]
        assert rows(tmp_path / "sft")[-1]["policy/kl_ref"] > 1e-3 > abs(warm["policy/kl_ref"])

    def test_nothing_is_sampled(self, tmp_path: Path) -> None:
        train(small(algorithm__name="sft", steps=2), tmp_path)
        assert list(read_rows(tmp_path / ROLLOUTS)) == []
        assert last(tmp_path)["tokens/trained"] > 0


class TestDapo:
    def test_replacements_fill_the_batch(self, tmp_path: Path) -> None:
        """On a level where many groups agree, more is sampled and more of it trains."""
        hard = {"task__args__min": 7, "task__args__max": 8, "steps": 2}
        for name, group_filter in (("dropped", "mixed_rewards"), ("resampled", "resample")):
            train(small(data__group_filter=group_filter, **hard), tmp_path / name)
        before, after = (rows(tmp_path / name)[1] for name in ("dropped", "resampled"))
        assert before["data/groups_dropped"] > 0
        assert after["data/groups_resampled"] > 0
        assert after["tokens/trained"] > before["tokens/trained"]
        kept = 4 + after["data/groups_resampled"] - after["data/groups_dropped"]
        assert kept + after["data/groups_missing"] == 4

    def test_the_first_draw_is_the_same_with_and_without_replacements(self, tmp_path: Path) -> None:
        for name in ("none", "resample"):
            train(small(data__group_filter=name, steps=1), tmp_path / name)
        first, second = (list(read_rows(tmp_path / n / ROLLOUTS)) for n in ("none", "resample"))
        assert second[: len(first)] == first


class TestDpo:
    def test_the_first_margin_is_zero_and_its_loss_log_two(self, tmp_path: Path) -> None:
        train(small(algorithm__name="dpo", steps=1), tmp_path)
        found = last(tmp_path)
        assert found["dpo/margin"] == 0.0
        assert found["loss/policy"] == pytest.approx(torch.tensor(2.0).log().item())


def test_masked_tokens_are_counted(tmp_path: Path) -> None:
    values = {"algorithm__correction__kind": "token_mask", "max_staleness": 4}
    train(small(**values), tmp_path)
    found = rows(tmp_path)
    assert found[1]["mismatch/masked_frac"] == 0.0
    assert 0 < found[-1]["mismatch/masked_frac"] < 1
    assert found[-1]["mismatch/ess"] < found[1]["mismatch/ess"] == pytest.approx(1.0)
