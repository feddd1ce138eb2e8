import pytest

from benchmarks.reward.recipe import EVERY, STEPS, config_for, grpo_arguments, prompts_in_order
from swarm import tasks


def test_trl_accepts_the_mapped_arguments(tmp_path):
    trl = pytest.importorskip("trl")
    config = config_for(3)
    args = trl.GRPOConfig(**grpo_arguments(config, tmp_path))
    assert args.generation_batch_size == config.batch.rollouts
    assert args.num_generations == config.batch.group_size
    assert (args.learning_rate, args.max_grad_norm) == (config.optim.lr, config.optim.grad_clip)
    assert (args.loss_type, args.scale_rewards) == ("dapo", "none")
    assert (args.epsilon, args.epsilon_high) == (0.2, 0.2)
    assert not args.bf16
    assert not args.gradient_checkpointing


def test_options_stand_over_the_recipe(tmp_path):
    found = grpo_arguments(config_for(0), tmp_path, {"bf16": True, "max_steps": 2})
    assert (found["bf16"], found["max_steps"]) == (True, 2)
    assert "gradient_checkpointing" not in found


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("algorithm.kl_coef", 0.1),
        ("algorithm.aggregation", "sequence_mean"),
        ("algorithm.baseline", "leave_one_out"),
        ("batch.epochs", 2),
        ("max_staleness", 1),
    ],
)
def test_what_trl_cannot_express_is_refused_by_name(path, value, tmp_path):
    named = "batch.updates" if path == "batch.epochs" else path
    with pytest.raises(ValueError, match=named):
        grpo_arguments(config_for(0).with_values({path: value}), tmp_path)


def test_every_batch_of_trl_asks_what_swarm_asks():
    from swarm.dataflow.prompts import batch_problems

    config = config_for(1, steps=EVERY)
    task = tasks.load(config.task)
    rows = prompts_in_order(config, task)
    size = config.batch.prompts
    assert len(rows) == EVERY * size
    assert rows[2 * size : 3 * size] == batch_problems(
        task, config.data, seed=1, step=2, steps=EVERY, count=size
    )


def test_a_run_ends_with_an_evaluation_and_saves_nothing_before():
    config = config_for(0)
    assert STEPS % config.evaluation.every == 0
    assert config.checkpoint_every == config.steps == STEPS
