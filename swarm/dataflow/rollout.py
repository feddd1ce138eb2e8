"""Ask problems, judge the answers."""

from collections.abc import Sequence
from typing import Any

from swarm.config.parts import SamplingSettings
from swarm.models.ends import Ends
from swarm.records import Completion, Engine, Episode, Group, SampleRequest, StopReason
from swarm.seeds import derive
from swarm.tasks import Answer, Problem, Score, Task

#: The score of an episode without an answer.
UNSCORED = Score(None, None)


def roll_out(
    engine: Engine,
    tokenizer: Any,
    task: Task,
    problems: Sequence[Problem],
    *,
    ends: Ends,
    members: int,
    sampling: SamplingSettings,
    seed_parts: tuple[int | str, ...],
    version: int,
    slot: str | None = None,
) -> list[Group]:
    """`members` episodes for each problem, sampled from the adapter in `slot`. Member m of prompt i
    is seeded by H(*seed_parts, i, m), so re-runs match and members differ. An answer is judged
    without its end, one of `ends`. A prompt that fills the model's context has episodes without
    tokens, which are not scored. Raises RewardFailed."""
    prompts = [tuple(task.encode(tokenizer, problem)) for problem in problems]
    requests = [
        SampleRequest(
            prompt,
            tuple(derive(*seed_parts, i, m) for m in range(members)),
            sampling.max_tokens,
            sampling.temperature,
            slot,
        )
        for i, prompt in enumerate(prompts)
    ]
    completions = engine.sample(requests)
    return [
        Group(
            prompt,
            problem.prompt,
            problem.answer,
            _judged(ends, tokenizer, task, problem, members_of, version),
            problem.level,
        )
        for problem, prompt, members_of in zip(problems, prompts, completions, strict=True)
    ]


def _judged(
    ends: Ends,
    tokenizer: Any,
    task: Task,
    problem: Problem,
    completions: Sequence[Completion],
    version: int,
) -> tuple[Episode, ...]:
    texts = ends.answers(tokenizer, [c.tokens for c in completions])
    asked = [c.stop != StopReason.OVERLONG for c in completions]
    answers = [
        Answer(text, completion.tokens, version)
        for text, completion, was_asked in zip(texts, completions, asked, strict=True)
        if was_asked
    ]
    scores = iter(task.score(problem, answers) if answers else ())
    found = [next(scores) if was_asked else UNSCORED for was_asked in asked]
    return tuple(
        Episode(completion, text, score.reward, score.correct, version)
        for completion, text, score in zip(completions, texts, found, strict=True)
    )
