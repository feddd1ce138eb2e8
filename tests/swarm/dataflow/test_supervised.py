"""Worked answers as token trees."""

import numpy as np
import pytest

from swarm import tasks
from swarm.config.parts import TaskSettings
from swarm.dataflow.supervised import supervised_batch
from swarm.models.tokenizer import build_tokenizer
from swarm.records import TokenTree
from swarm.tasks import Problem

TOKENIZER = build_tokenizer()


def batch(name: str = "chain", rows: int = 12, seed: int = 0, step: int = 0) -> list[TokenTree]:
    task = tasks.load(TaskSettings(ref=name))
    return supervised_batch(task, (4, 6), TOKENIZER, TOKENIZER.eos_token_id, rows, seed, step)


@pytest.mark.parametrize("name", tasks.names())
def test_rows_are_worked_training_problems_that_end(name: str) -> None:
    family = tasks.family(name)
    for tree in batch(name):
        prompt, answer = tree.nodes
        text = TOKENIZER.decode(answer.tokens[:-1].tolist())
        problem = Problem(TOKENIZER.decode(prompt.tokens.tolist()), _answer(family, text), 0)
        assert problem.split == "train"
        assert answer.tokens[-1] == TOKENIZER.eos_token_id
        assert family.correct(problem, text)
        assert not prompt.mask.any()
        assert answer.mask.all()


def _answer(family: tasks.TaskFamily, text: str) -> str:
    return text.partition("#")[2] if family.name == "chain" else text


def test_each_token_of_the_batch_weighs_the_same() -> None:
    trees = batch()
    total = sum(tree.trained_tokens for tree in trees)
    weights = np.concatenate([tree.nodes[1].weight for tree in trees])
    np.testing.assert_allclose(weights, 1 / total, rtol=1e-6)
    assert {tree.trained_tokens for tree in trees} != {trees[0].trained_tokens}


def test_it_is_a_function_of_seed_and_step() -> None:
    def tokens(trees: list[TokenTree]) -> list[list[int]]:
        return [tree.nodes[1].tokens.tolist() for tree in trees]

    assert tokens(batch()) == tokens(batch())
    assert tokens(batch(rows=4)) == tokens(batch())[:4]
    assert tokens(batch()) != tokens(batch(step=1))
    assert tokens(batch()) != tokens(batch(seed=1))
