"""One run of the recipe by TRL's `GRPOTrainer`: same base, first adapter, prompts and judge."""

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from datasets import Dataset
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

from benchmarks.harness import Payload, serve
from benchmarks.reward.curve import Curve
from benchmarks.reward.recipe import EVERY, TRL_BEST, config_for, grpo_arguments, prompts_in_order
from benchmarks.reward.trace import Trace, reply
from swarm import models, seeds, tasks
from swarm.config.train import TrainConfig
from swarm.policy.adapters import export
from swarm.policy.base_model import load_base
from swarm.policy.policy import Policy
from swarm.tasks import Problem, Task
from swarm.train.evaluate import evaluate


class Traced(TrainerCallback):  # type: ignore[misc]
    """Tells the trace when steps end. The held-out evaluation is swarm's, on TRL's adapter.

    `prepared` seconds of the start went into what this comparison needs and TRL does not.
    """

    def __init__(self, trace: Trace, config: TrainConfig, folder: Path, prepared: float) -> None:
        self.trace = trace
        self.prepared = prepared
        self.config = config
        self.folder = folder

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any, **_: Any) -> None:
        self.trace.start(self.prepared)
        self._evaluate(model)
        self.trace.resume()

    def on_step_end(self, args: Any, state: Any, control: Any, model: Any, **_: Any) -> None:
        self.trace.step()
        if state.global_step % EVERY == 0 or state.global_step == self.config.steps:
            self._evaluate(model)
        self.trace.resume()

    def _evaluate(self, model: Any) -> None:
        model.save_pretrained(self.folder)
        self.trace.evaluated(evaluate(self.config, self.folder).accuracy)


def run(seed: int, steps: int, spawned: float, options: Mapping[str, Any] = TRL_BEST) -> Curve:
    """Train; `spawned` is this process's start by the monotonic clock."""
    config, trace = config_for(seed, steps), Trace(spawned)
    task = tasks.load(config.task)
    folder_of_model = models.ensure(config.model.ref)
    tokenizer = AutoTokenizer.from_pretrained(folder_of_model)
    with tempfile.TemporaryDirectory() as name:
        folder, began = Path(name), time.monotonic()
        problems = prompts_in_order(config, task)
        stops = _first_adapter(config, folder / "first")
        prepared = time.monotonic() - began
        trainer = GRPOTrainer(
            model=PeftModel.from_pretrained(
                AutoModelForCausalLM.from_pretrained(folder_of_model),
                folder / "first",
                is_trainable=True,
            ),
            reward_funcs=_judge(task, problems, trace),
            args=GRPOConfig(**grpo_arguments(config, folder / "out", options)),
            train_dataset=Dataset.from_dict({"prompt": [p.prompt for p in problems]}),
            processing_class=tokenizer,
        )
        _check_tokens(trainer, task, problems[: config.batch.prompts], stops)
        trainer.add_callback(Traced(trace, config, folder / "now", prepared))
        trainer.train()
    return trace.curve()


def _judge(task: Task, problems: Sequence[Problem], trace: Trace) -> Callable[..., list[float]]:
    """TRL's reward function: the task's own judge. Each batch's mean goes into the trace."""
    asked = {problem.prompt: problem for problem in problems}

    def judge(prompts: list[str], completions: list[str], **_: Any) -> list[float]:
        rewards = [
            task.score(asked[prompt], [completion])[0].reward or 0.0
            for prompt, completion in zip(prompts, completions, strict=True)
        ]
        trace.rewards.append(sum(rewards) / len(rewards))
        return rewards

    return judge


def _check_tokens(
    trainer: GRPOTrainer, task: Task, problems: Sequence[Problem], stops: frozenset[int]
) -> None:
    """Raise AssertionError unless TRL reads the prompts and ends completions as swarm does: with
    the same ids, the first of which is the last that is trained, and a padding apart from them."""
    tokenizer = trainer.processing_class
    read, _, _ = trainer._tokenize_prompts([problem.prompt for problem in problems])
    assert read == [task.encode(tokenizer, problem) for problem in problems]
    assert set(trainer.eos_token_ids) == stops
    assert tokenizer.pad_token_id not in stops


def _first_adapter(config: TrainConfig, folder: Path) -> frozenset[int]:
    """Write the adapter that swarm starts this run from, in PEFT's layout; the stop tokens."""
    base = load_base(config.model, config.device)
    policy = Policy(base.host, config.policy, config.optim, seeds.derive(config.seed, "policy"))
    export(policy, config.model, config.policy, folder)
    return base.stop_tokens


def answer(payload: Payload) -> Payload:
    """One curve for {"seed", "steps", "spawned", and maybe "options" of TRL}."""
    options = payload.get("options", TRL_BEST)
    return reply(run(payload["seed"], payload["steps"], payload["spawned"], options))


if __name__ == "__main__":
    serve(answer)
