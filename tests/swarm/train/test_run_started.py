"""A run that starts from weights: what a warm-up leaves behind, and SFT, then RL, in two runs."""

import shutil
from pathlib import Path

import pytest
from support.tiny_runs import rows, same_weights, small, weights

from swarm.config.base import JsonValue
from swarm.config.train import TrainConfig
from swarm.errors import BadAdapter, Refusal
from swarm.policy.saved_weights import OF_A_RUN
from swarm.train.loop import train

#: What `warmup` is in `demonstrated`.
WARM = {"warmup.steps": 3, "warmup.rows": 16, "warmup.lr": 1e-3}
FEW = {
    "steps": 1,
    "evaluation.every": 1,
    "algorithm.kl_coef": 0.1,
    "task.reward": "partial",
}


def demonstrated(folder: Path, **values: JsonValue) -> Path:
    """A run of supervised steps: those of WARM."""
    config = small(algorithm__name="sft", steps=3, batch__rollouts=16, optim__lr=1e-3)
    train(config.with_values({name.replace("__", "."): v for name, v in values.items()}), folder)
    return folder


@pytest.fixture(scope="module")
def sft(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An adapter; only read."""
    return demonstrated(tmp_path_factory.mktemp("runs") / "sft")


def started(at: Path, **values: JsonValue) -> TrainConfig:
    return small(policy__start=str(at), **values).with_values(FEW)


@pytest.mark.parametrize("algorithm", ["default", "ppo"])
@pytest.mark.parametrize("kind", ["lora", "full"])
def test_after_a_warm_up_it_is_the_run_that_starts_from_its_weights(
    kind: str, algorithm: str, tmp_path: Path
) -> None:
    """To the bit: the optimizer of the warm-up, whose moments would shorten the first steps to a
    third, is gone, and the same weights are the reference."""
    values = {"policy__kind": kind, "algorithm__name": algorithm}
    sft = demonstrated(tmp_path / "sft", policy__kind=kind)
    train(started(sft, **values), tmp_path / "two")
    train(small(**values).with_values(WARM | FEW), tmp_path / "one")
    assert rows(tmp_path / "two") == rows(tmp_path / "one")
    assert same_weights(tmp_path / "two", tmp_path / "one")
    assert not same_weights(tmp_path / "two", sft)


def test_the_start_is_the_reference(sft: Path, tmp_path: Path) -> None:
    """Of the KL term: exactly 0 before the first update, while the base is far away."""
    train(started(sft), tmp_path / "rl")
    first, after = rows(tmp_path / "rl")
    assert after["loss/kl"] == 0.0
    assert abs(first["policy/kl_ref"]) < 1e-6
    assert rows(sft)[-1]["policy/kl_ref"] > 1e-3
    assert first["eval/acc"] == rows(sft)[-1]["eval/acc"]


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"policy__kind": "full"}, r"policy\.kind: it is full, and .* holds a LoRA adapter; set"),
        ({"policy__rank": 4}, r"policy\.rank: it is 4, and the adapter in .* has 8; set it to 8"),
        ({"policy__alpha": 4}, r"policy\.alpha: it is 4, .* has 16; set it to 16"),
        (
            {"policy__targets": "mlp"},
            r"policy\.start: .* adapts .*proj, other than policy\.targets",
        ),
    ],
    ids=str,
)
def test_an_adapter_of_another_shape_is_refused(
    values: dict, named: str, sft: Path, tmp_path: Path
) -> None:
    with pytest.raises(Refusal, match=named):
        train(started(sft, **values), tmp_path / "rl")
    assert not (tmp_path / "rl").exists()


def test_a_start_that_changed_is_another_run(sft: Path, tmp_path: Path) -> None:
    """A resumed run never goes on from weights that it did not start from."""
    at, rl = tmp_path / "at", tmp_path / "rl"
    shutil.copytree(sft / OF_A_RUN, at)
    train(started(at), rl)
    weights_file = at / "adapter_model.safetensors"
    weights_file.rename(tmp_path / "moved")
    with pytest.raises(BadAdapter, match=r"policy\.start: .* holds no adapter_config"):
        train(started(at), rl, resume_from=rl)
    shutil.copyfile(rl / OF_A_RUN / weights_file.name, weights_file)
    with pytest.raises(Refusal, match=r"policy\.start_digest: .* was trained with another value"):
        train(started(at), rl, resume_from=rl)


def test_full_weights_of_another_model_are_refused(
    random_llama_folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(BadAdapter, match=r"policy\.start: .* which this base has not"):
        train(started(random_llama_folder, policy__kind="full"), tmp_path / "rl")


def test_a_bf16_run_starts_from_bf16_weights(tmp_path: Path) -> None:
    """Its masters begin where the export was rounded to."""
    values = {"policy__kind": "full", "model__dtype": "bfloat16"}
    sft = demonstrated(tmp_path / "sft", **values)
    train(started(sft, optim__lr=1e-30, **values), tmp_path / "rl")
    assert {str(t.dtype) for t in weights(tmp_path / "rl").values()} == {"torch.bfloat16"}
    assert same_weights(tmp_path / "rl", sft)
