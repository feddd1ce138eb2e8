"""Supervised rows as token trees of depth one: the same path as reinforcement."""

from typing import Any

import numpy as np

from swarm import seeds
from swarm.records import TokenTree, action_node, context_node, reweighted
from swarm.tasks import Task


def supervised_batch(
    task: Task, levels: tuple[int, int], tokenizer: Any, end: int, rows: int, seed: int, step: int
) -> list[TokenTree]:
    """`rows` demonstrations of training problems, each token weighing 1 / (tokens of the batch
    of this task), the `end` token behind each answer included."""
    trees = []
    for row in range(rows):
        rng = seeds.generator(seed, "supervised", task.name, step, row)
        problem = task.draw(rng, levels)
        answer = task.demonstration(problem, rng)
        prompt_ids = task.encode(tokenizer, problem)
        answer_ids = tokenizer.encode(answer, add_special_tokens=False)
        answer_ids.append(end)
        trees.append(TokenTree((context_node(prompt_ids), action_node(answer_ids, 0))))
    total = sum(tree.trained_tokens for tree in trees)
    return [
        reweighted(tree, [(node.mask / total).astype(np.float32) for node in tree.nodes])
        for tree in trees
    ]
