"""One run of the recipe by TRL's `GRPOTrainer`: same base, first adapter, prompts and judge."""

import tempfile
from collections.abc import Mapping
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
from swarm.config import TrainConfig
from swarm.evaluate import evaluate
from swarm.models.load import load_base
from swarm.policy.export import export
from swarm.policy.policy import Policy


class Traced(TrainerCallback):  # type: ignore[misc]
    """Tells the trace when steps end. The held-out evaluation is swarm's, on TRL's adapter."""

    def __init__(self, trace: Trace, config: TrainConfig, folder: Path) -> None:
        self.trace = trace
        self.config = config
        self.folder = folder

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any, **_: Any) -> None:
        self.trace.start()
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
    config = config_for(seed, steps)
    task = tasks.load(config.task)
    problems = prompts_in_order(config, task)
    answers = {problem.prompt: problem for problem in problems}
    trace = Trace(spawned)

    def judge(prompts: list[str], completions: list[str], **_: Any) -> list[float]:
        scores = [
            task.score(answers[prompt], [completion])[0].reward or 0.0
            for prompt, completion in zip(prompts, completions, strict=True)
        ]
        trace.rewards.append(sum(scores) / len(scores))
        return scores

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _first_adapter(config, folder / "first")
        base = models.ensure(config.model.ref)
        tokenizer = AutoTokenizer.from_pretrained(base)
        for problem in problems[: config.batch.prompts]:
            if tokenizer(problem.prompt)["input_ids"] != task.encode(tokenizer, problem):
                raise AssertionError(f"TRL tokenises {problem.prompt!r} otherwise")
        trainer = GRPOTrainer(
            model=PeftModel.from_pretrained(
                AutoModelForCausalLM.from_pretrained(base), folder / "first", is_trainable=True
            ),
            reward_funcs=judge,
            args=GRPOConfig(**grpo_arguments(config, folder / "out", options)),
            train_dataset=Dataset.from_dict({"prompt": [p.prompt for p in problems]}),
            processing_class=tokenizer,
        )
        trainer.add_callback(Traced(trace, config, folder / "now"))
        trainer.train()
    return trace.curve()


def _first_adapter(config: TrainConfig, folder: Path) -> None:
    """Write the adapter that swarm starts this run from, in PEFT's layout."""
    host = load_base(config.model, config.device).host
    seed = seeds.derive(config.seed, "policy")
    policy = Policy(host, config.policy, config.optim, seed)
    export(policy, config.model, config.policy, folder)


def answer(payload: Payload) -> Payload:
    """One curve for {"seed", "steps", "spawned", and maybe "options" of TRL}."""
    options = payload.get("options", TRL_BEST)
    return reply(run(payload["seed"], payload["steps"], payload["spawned"], options))


if __name__ == "__main__":
    serve(answer)
