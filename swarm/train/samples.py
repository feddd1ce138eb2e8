"""The answers of a batch that are kept to be read."""

from collections.abc import Iterator, Sequence
from typing import Any

from swarm.records import Group

#: Readable samples kept a batch.
SAMPLES = 4


def readable(groups: Sequence[Group], step: int) -> Iterator[dict[str, Any]]:
    """The first answer to each of a batch's first prompts, as rows of `rollouts.jsonl`."""
    for group in groups[:SAMPLES]:
        episode = group.episodes[0]
        yield {
            "step": step,
            "prompt": group.text,
            "answer": group.answer,
            "completion": episode.text,
            "reward": episode.reward,
            "correct": episode.correct,
            "stop": episode.completion.stop.value,
            "tokens": len(episode.completion.tokens),
        }
