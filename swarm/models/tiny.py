"""`tiny`: a character-level Llama of 0.8 M parameters, built here by a seeded recipe.

Supervised training on the built-in tasks, all weights, through the learner's masked-token path.
The result is cached by the recipe's hash, so a changed recipe never meets an old model.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from swarm import tasks
from swarm.config import OptimSettings, PolicySettings, TaskSettings, canonical_digest
from swarm.models.cache import cache_folder, is_made, make_once

NAME = "tiny"
ABOUT = "character-level Llama of 0.8 M parameters, built here by a seeded recipe"
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Recipe:
    """All that the tiny model depends on. `shares` are rows of a batch by task; `revision` is
    raised when the learner comes to round otherwise, which gives other weights."""

    steps: int = 200
    rows: int = 96
    lr: float = 3e-3
    warmup_steps: int = 20
    seed: int = 17
    hidden: int = 128
    layers: int = 4
    heads: int = 4
    mlp: int = 352
    context: int = 256
    shares: Mapping[str, int] | None = None
    revision: int = 2

    def digest(self) -> str:
        return canonical_digest([asdict(self), tasks.code_digest()])


RECIPE = Recipe()


def path(recipe: Recipe = RECIPE) -> Path:
    """The folder of the model of this recipe, built or not."""
    return cache_folder() / f"{NAME}-{recipe.digest()[:12]}"


def is_built(recipe: Recipe = RECIPE) -> bool:
    return is_made(path(recipe))


def ensure(progress: Progress | None = None, recipe: Recipe = RECIPE) -> Path:
    """The model's folder, built first if it is not there. `progress(step, steps)` is told.

    Of several processes one builds and the others wait for it.
    """
    return make_once(path(recipe), lambda folder: _build(recipe, folder, progress))


def _build(recipe: Recipe, folder: Path, progress: Progress | None) -> None:
    import torch
    from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM

    from swarm.config import AlgorithmSettings
    from swarm.dataflow.supervised import supervised_batch
    from swarm.learn.learner import Learner, scheduled_lr
    from swarm.models.tokenizer import build_tokenizer
    from swarm.policy.lora import AdapterHost
    from swarm.policy.policy import Policy

    tokenizer = build_tokenizer()
    torch.manual_seed(recipe.seed)
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
    policy = Policy(AdapterHost(model), PolicySettings(kind="full"), optim, recipe.seed)
    learner = Learner(model, policy, optim, AlgorithmSettings(), 1.0, recipe.steps)
    shares = recipe.shares or dict.fromkeys(tasks.names(), recipe.rows // len(tasks.names()))
    named = [(tasks.load(TaskSettings(ref=name)), rows) for name, rows in shares.items()]
    for step in range(recipe.steps):
        trees = [
            tree
            for task, rows in named
            for tree in supervised_batch(task, task.levels, tokenizer, rows, recipe.seed, step)
        ]
        learner.supervise(trees, scheduled_lr(optim, step, recipe.steps))
        if progress is not None:
            progress(step + 1, recipe.steps)
    model.generation_config = GenerationConfig(
        eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
