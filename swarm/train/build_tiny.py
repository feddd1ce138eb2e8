"""How the `tiny` model was made: `python -m swarm.train.build_tiny FOLDER` makes it again.

Supervised training on the built-in tasks, all weights, through the learner's masked-token path. On
another processor, or after a change of the tasks or the learner, the weights differ: what was made
once is frozen in `swarm/models/weights/tiny`, and nothing that is made here is taken for it.
"""

import hashlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM

from swarm import tasks
from swarm.config.algorithm import AlgorithmSettings
from swarm.config.parts import OptimSettings, PolicySettings, TaskSettings
from swarm.dataflow.supervised import supervised_batch
from swarm.disk.folder import take_usual_modes
from swarm.learn.learner import Learner, scheduled_lr
from swarm.models import tiny
from swarm.models.tokenizer import build_tokenizer
from swarm.policy.lora import AdapterHost
from swarm.policy.policy import Policy

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Recipe:
    """All that the tiny model depends on besides the code. A batch has `rows` of each family."""

    steps: int = 200
    lr: float = 3e-3
    warmup_steps: int = 20
    seed: int = 17
    hidden: int = 128
    layers: int = 4
    heads: int = 4
    mlp: int = 352
    context: int = 256
    families: tuple[str, ...] = ("reverse", "sort", "chain", "order")
    rows: int = 24


RECIPE = Recipe()


def build(folder: Path, recipe: Recipe = RECIPE, progress: Progress | None = None) -> None:
    """Make the recipe's model in `folder`, on one thread; about a minute. `progress(step, steps)`
    is told of every step."""
    torch.set_num_threads(1)
    tokenizer = build_tokenizer()
    seed = recipe.seed
    torch.manual_seed(seed)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=recipe.hidden,
            intermediate_size=recipe.mlp,
            num_hidden_layers=recipe.layers,
            num_attention_heads=recipe.heads,
            num_key_value_heads=recipe.heads,
            max_position_embeddings=recipe.context,
            tie_word_embeddings=True,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
            bos_token_id=None,
        )
    ).eval()
    optim = OptimSettings(
        lr=recipe.lr,
        beta2=0.95,
        weight_decay=0.01,
        schedule="cosine",
        warmup_steps=recipe.warmup_steps,
    )
    policy = Policy(AdapterHost(model), PolicySettings(kind="full"), optim, seed)
    learner = Learner(model, policy, optim, AlgorithmSettings(), 1.0, recipe.steps)
    families = [tasks.load(TaskSettings(ref=name)) for name in recipe.families]
    for step in range(recipe.steps):
        trees = [
            tree
            for task in families
            for tree in supervised_batch(
                task, task.levels, tokenizer, tokenizer.eos_token_id, recipe.rows, seed, step
            )
        ]
        learner.supervise(trees, scheduled_lr(optim, step, recipe.steps))
        if progress is not None:
            progress(step + 1, recipe.steps)
    model.generation_config = GenerationConfig(
        eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    take_usual_modes(folder)


def weights_digest(folder: Path) -> str:
    """sha256 of a made model's weights, in hex."""
    return hashlib.sha256((folder / tiny.WEIGHTS).read_bytes()).hexdigest()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m swarm.train.build_tiny FOLDER")
    build(Path(sys.argv[1]))
    made = weights_digest(Path(sys.argv[1]))
    same = "those of" if made == tiny.FILES[tiny.WEIGHTS] else "not those of"
    sys.stdout.write(f"sha256 {made}: {same} the frozen model\n")
