"""Ask problems, judge the answers."""

from collections.abc import Sequence
from typing import Any

from swarm.config import SamplingSettings
from swarm.engine.base import Engine
from swarm.records import Completion, Episode, Group, SampleRequest
from swarm.seeds import derive
from swarm.tasks import Problem, TaskFamily


def roll_out(
    engine: Engine,
    tokenizer: Any,
    family: TaskFamily,
    problems: Sequence[Problem],
    *,
    members: int,
    reward: str,
    sampling: SamplingSettings,
    seed_parts: tuple[int | str, ...],
    version: int,
) -> list[Group]:
    """`members` episodes for each problem. Member m of prompt i is seeded by
    H(*seed_parts, i, m), so re-runs match and members differ."""
    prompts = [tuple(tokenizer.encode(p.prompt, add_special_tokens=False)) for p in problems]
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
            tuple(
                _judge(tokenizer, family, problem, completion, reward, version)
                for completion in members_of
            ),
        )
        for problem, prompt, members_of in zip(problems, prompts, completions, strict=True)
    ]


def _judge(
    tokenizer: Any,
    family: TaskFamily,
    problem: Problem,
    completion: Completion,
    reward: str,
    version: int,
) -> Episode:
    text = tokenizer.decode(completion.tokens, skip_special_tokens=True)
    return Episode(
        completion,
        text,
        family.reward(reward, problem, text),
        family.correct(problem, text),
        version,
    )
