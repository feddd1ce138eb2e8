"""Ask problems, judge the answers."""

from collections.abc import Sequence
from typing import Any

from swarm.config import SamplingSettings
from swarm.engine.base import Engine
from swarm.records import Completion, Episode, Group, SampleRequest
from swarm.seeds import derive
from swarm.tasks import Problem, Task


def roll_out(
    engine: Engine,
    tokenizer: Any,
    task: Task,
    problems: Sequence[Problem],
    *,
    members: int,
    sampling: SamplingSettings,
    seed_parts: tuple[int | str, ...],
    version: int,
) -> list[Group]:
    """`members` episodes for each problem. Member m of prompt i is seeded by
    H(*seed_parts, i, m), so re-runs match and members differ. Raises RewardFailed."""
    prompts = [tuple(task.encode(tokenizer, problem)) for problem in problems]
    requests = [
        SampleRequest(
            prompt,
            tuple(derive(*seed_parts, i, m) for m in range(members)),
            sampling.max_tokens,
            sampling.temperature,
        )
        for i, prompt in enumerate(prompts)
    ]
    completions = engine.sample(requests)
    return [
        Group(
            prompt,
            problem.prompt,
            problem.answer,
            _judged(tokenizer, task, problem, members_of, version),
            problem.level,
        )
        for problem, prompt, members_of in zip(problems, prompts, completions, strict=True)
    ]


def _judged(
    tokenizer: Any,
    task: Task,
    problem: Problem,
    completions: Sequence[Completion],
    version: int,
) -> tuple[Episode, ...]:
    texts = [tokenizer.decode(c.tokens, skip_special_tokens=True) for c in completions]
    scores = task.score(problem, texts)
    return tuple(
        Episode(completion, text, score.reward, score.correct, version)
        for completion, text, score in zip(completions, texts, scores, strict=True)
    )
