"""Which trained tokens belong to one sequence."""

import pytest

from swarm.learn.ratios import sequence_ids
from swarm.records import TokenTree, action_node, context_node


class TestSequences:
    """A sequence is one branch of a tree."""

    def test_each_answer_of_a_group_is_one(self) -> None:
        tree = TokenTree((context_node([2]), action_node([3, 4], 0), action_node([5], 0)))
        assert sequence_ids([tree, tree]).tolist() == [0, 0, 1, 2, 2, 3]

    def test_all_turns_of_an_episode_are_one(self) -> None:
        tree = TokenTree(
            (
                context_node([2]),
                action_node([3, 4], 0),
                context_node([5], 1),
                action_node([6], 2),
            )
        )
        assert sequence_ids([tree]).tolist() == [0, 0, 0]

    def test_a_new_branch_after_a_broken_prefix_is_another(self) -> None:
        tree = TokenTree(
            (context_node([2]), action_node([3], 0), context_node([3, 5], 0), action_node([6], 2))
        )
        assert sequence_ids([tree]).tolist() == [0, 1]

    def test_a_trained_token_on_two_branches_is_refused(self) -> None:
        tree = TokenTree(
            (context_node([2]), action_node([3], 0), action_node([4], 1), action_node([5], 1))
        )
        with pytest.raises(ValueError, match="node 1 of tree 0 is on 2"):
            sequence_ids([tree])

    def test_no_trained_token(self) -> None:
        assert sequence_ids([TokenTree((context_node([2]),))]).tolist() == []
