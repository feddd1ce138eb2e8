"""A built-in family as a task: its levels, its prompts, its reward."""

import numpy as np
import pytest

from swarm import tasks
from swarm.errors import Refusal
from swarm.models.tokenizer import build_tokenizer
from swarm.tasks import BuiltIn, Problem, Score

REVERSE = BuiltIn(tasks.family("reverse"), (3, 5), "partial")
PROBLEM = Problem("R:abcd>", "dcba", 4)


def test_levels_with_too_few_prompts_are_refused() -> None:
    """26 strings of one letter."""
    with pytest.raises(Refusal, match=r"evaluation\.prompts: 64 is more than the"):
        BuiltIn(tasks.family("reverse"), (1, 1)).evaluation(64)


def test_training_prompts_are_of_the_levels_asked_and_never_held_out() -> None:
    rng = np.random.default_rng(0)
    held_out = {problem.prompt for problem in REVERSE.evaluation(128)}
    drawn = [REVERSE.draw(rng, (4, 5)) for _ in range(500)]
    assert {problem.level for problem in drawn} == {4, 5}
    assert not held_out & {problem.prompt for problem in drawn}
    assert REVERSE.known_levels == (3, 4, 5)


def test_the_named_reward_pays_and_the_true_metric_stands_beside_it() -> None:
    assert REVERSE.score(PROBLEM, ["dcba", "dcbx", ""]) == [
        Score(1.0, True),
        Score(0.75, False),
        Score(0.0, False),
    ]


def test_a_prompt_is_raw_text_without_special_tokens() -> None:
    tokenizer = build_tokenizer()
    assert tokenizer.decode(REVERSE.encode(tokenizer, PROBLEM)) == PROBLEM.prompt
