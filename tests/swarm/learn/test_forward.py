"""`trained_logprobs` against the reference that runs every branch alone."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support import naive
from support.forests import forests, group_tree, random_node
from support.models import VOCABULARY, gpt2, llama
from torch import Tensor, nn
from transformers import MistralConfig, MistralForCausalLM

from swarm.errors import Refusal
from swarm.learn.forward import TrainedTokens, trained_logprobs
from swarm.records import TokenTree, action_node, context_node

#: fp32 sums in another order; a wrong token, mask or position is off by 1e-1 and more.
FP32 = 1e-5
#: Weights and activations in fp64. The scoring softmax and RMSNorm stay in fp32 by design, so a
#: few ulp of fp32 remain.
FP64 = 2e-6


def of_forest(
    model: nn.Module, trees: Sequence[TokenTree], temperature: float
) -> naive.NaiveTokens:
    parts = [naive.trained_tokens(model, tree, temperature) for tree in trees]
    return naive.NaiveTokens(
        torch.cat([p.logprobs for p in parts]), torch.cat([p.entropy for p in parts])
    )


def gradient(model: nn.Module, loss: Tensor) -> Tensor:
    """All parameters' gradients as one vector."""
    model.zero_grad(set_to_none=True)
    loss.backward()
    return torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])


class TestAgainstTheReference:
    """Values, entropies and gradients on random trees, with rotary and with learned positions."""

    @pytest.mark.parametrize("build", [llama, gpt2])
    @settings(max_examples=40)
    @given(trees=forests(), temperature=st.sampled_from([1.0, 0.6, 1.7]))
    def test_values(
        self, build: Callable[[], nn.Module], trees: list[TokenTree], temperature: float
    ) -> None:
        model = build()
        with torch.no_grad():
            seen = trained_logprobs(model, trees, temperature, entropy_grad=True)
            truth = of_forest(model, trees, temperature)
        torch.testing.assert_close(seen.logprobs, truth.logprobs, atol=FP32, rtol=FP32)
        torch.testing.assert_close(seen.entropy, truth.entropy, atol=FP32, rtol=FP32)

    @settings(max_examples=20)
    @given(trees=forests())
    def test_values_in_double_precision(self, trees: list[TokenTree]) -> None:
        model = llama().double()
        with torch.no_grad():
            seen = trained_logprobs(model, trees, 1.0)
            truth = of_forest(model, trees, 1.0)
        torch.testing.assert_close(seen.logprobs, truth.logprobs, atol=FP64, rtol=FP64)

    @pytest.mark.parametrize("build", [llama, gpt2])
    @settings(max_examples=20)
    @given(trees=forests(max_trees=2))
    def test_gradients(self, build: Callable[[], nn.Module], trees: list[TokenTree]) -> None:
        model = build()
        weights = torch.linspace(0.5, 1, sum(tree.trained_tokens for tree in trees))
        if not len(weights):
            return
        seen = trained_logprobs(model, trees, 0.8, entropy_grad=True)
        shared = gradient(model, (weights * (seen.logprobs + seen.entropy)).sum())
        truth = of_forest(model, trees, 0.8)
        alone = gradient(model, (weights * (truth.logprobs + truth.entropy)).sum())
        assert (shared - alone).norm() <= 1e-5 * alone.norm() + 1e-6


class TestBranches:
    """What siblings may and may not do to each other."""

    def test_the_first_token_of_each_branch_is_predicted_by_its_parent(
        self, random_llama: nn.Module
    ) -> None:
        """Branches that part at their first token: the second must not be scored from the first's
        last row, nor the first from padding."""
        tree = group_tree([3, 4, 5, 6], [[7, 8, 9], [10], [7, 11]])
        with torch.no_grad():
            law_V = random_llama(torch.tensor([[3, 4, 5, 6]])).logits[0, -1].log_softmax(-1)
            found = trained_logprobs(random_llama, [tree], 1.0).logprobs
        torch.testing.assert_close(found[[0, 3, 4]], law_V[[7, 10, 7]], atol=FP32, rtol=0)

    def test_a_one_token_answer_trains(self, random_llama: nn.Module) -> None:
        tree = TokenTree((context_node([3, 4]), action_node([7], 0)))
        loss = trained_logprobs(random_llama, [tree], 1.0).logprobs.sum()
        assert gradient(random_llama, loss).norm() > 0.01

    def test_a_sibling_cannot_be_seen(self, random_llama: nn.Module) -> None:
        """Other tokens in a sibling of equal length leave the same work to do: equal to the bit."""
        answer, other = [7, 8, 9], [10, 2, 5]
        with torch.no_grad():
            before = trained_logprobs(
                random_llama, [group_tree([3, 4], [answer, [11, 12, 13]])], 1.0
            )
            after = trained_logprobs(random_llama, [group_tree([3, 4], [answer, other])], 1.0)
        assert torch.equal(before.logprobs[:3], after.logprobs[:3])
        assert not torch.equal(before.logprobs[3:], after.logprobs[3:])

    @pytest.mark.parametrize("build", [llama, gpt2])
    def test_padding_changes_nothing(self, build: Callable[[], nn.Module]) -> None:
        """Alone, beside a longer sibling and beside a longer prompt; shapes differ, so rounding."""
        model, alone = build(), group_tree([3, 4], [[7, 8, 9]])
        beside = [group_tree([3, 4], [[7, 8, 9], list(range(2, 20))]), group_tree([5] * 9, [[6]])]
        with torch.no_grad():
            truth = trained_logprobs(model, [alone], 1.0).logprobs
            found = trained_logprobs(model, beside, 1.0).logprobs[:3]
        torch.testing.assert_close(found, truth, atol=FP32, rtol=0)

    def test_observations_condition_and_are_not_trained(self, random_llama: nn.Module) -> None:
        """An observation yields no log-probability of its own and moves those after it."""

        def episode(observed: list[int]) -> TokenTree:
            return TokenTree(
                (
                    context_node([3, 4]),
                    action_node([5, 6], 0),
                    context_node(observed, 1),
                    action_node([7, 8], 2),
                )
            )

        with torch.no_grad():
            found = trained_logprobs(random_llama, [episode([9, 10, 11])], 1.0).logprobs
            edited = trained_logprobs(random_llama, [episode([9, 12, 11])], 1.0).logprobs
        assert len(found) == 4
        assert torch.equal(found[:2], edited[:2])
        assert (found[2:] - edited[2:]).abs().min() > 1e-3


class TestOrder:
    """Outputs come tree by tree, node by node, token by token."""

    def test_depth_first_and_breadth_first_trees(self, random_llama: nn.Module) -> None:
        rng = np.random.default_rng(0)
        everything = np.ones(2, bool)
        root = random_node(rng, 2, None, np.zeros(2, bool))
        a, b = (random_node(rng, 2, 0, everything) for _ in range(2))
        below_a, below_b = (random_node(rng, 2, 1, everything) for _ in range(2))
        depth_first = TokenTree(
            (root, a, below_a, replace(b, parent=0), replace(below_b, parent=3))
        )
        breadth_first = TokenTree((root, a, b, below_a, replace(below_b, parent=2)))
        with torch.no_grad():
            deep = trained_logprobs(random_llama, [depth_first], 1.0).logprobs.view(4, 2)
            broad = trained_logprobs(random_llama, [breadth_first], 1.0).logprobs.view(4, 2)
        torch.testing.assert_close(deep, broad[[0, 2, 1, 3]], atol=FP32, rtol=0)

    def test_nothing_to_train_is_no_error(self, random_llama: nn.Module) -> None:
        seen = trained_logprobs(random_llama, [TokenTree((context_node([3, 4]),))], 1.0)
        assert seen.logprobs.shape == seen.entropy.shape == (0,)


class Oracle(nn.Module):
    """A model that is certain: after token t at position p comes (5 t + 3 p + 1) mod V."""

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(VOCABULARY, VOCABULARY, bias=False)
        self.head.weight.data = 100 * torch.eye(VOCABULARY)
        self.config = SimpleNamespace(_attn_implementation=None, num_hidden_layers=0)

    def get_decoder(self) -> Callable[..., SimpleNamespace]:
        def decoder(input_ids: Tensor, position_ids: Tensor, **_: object):
            following = (5 * input_ids + 3 * position_ids + 1) % VOCABULARY
            hidden_BTD = nn.functional.one_hot(following, VOCABULARY).float()
            return SimpleNamespace(last_hidden_state=hidden_BTD)

        return decoder

    def get_output_embeddings(self) -> nn.Module:
        return self.head

    def continuation(self, token: int, position: int, length: int) -> list[int]:
        """The certain tokens after `token` at `position`."""
        tokens = []
        for _ in range(length):
            token, position = (5 * token + 3 * position + 1) % VOCABULARY, position + 1
            tokens.append(token)
        return tokens


class TestShift:
    """Against the oracle a token scored one place off loses 100 nats."""

    @given(lengths=st.lists(st.integers(1, 4), min_size=2, max_size=5), start=st.integers(0, 23))
    def test_a_path_of_certain_tokens_is_certain(self, lengths: list[int], start: int) -> None:
        oracle = Oracle()
        tokens = [start, *oracle.continuation(start, 0, sum(lengths) - 1)]
        ends = np.cumsum(lengths)
        parts = [tokens[end - n : end] for n, end in zip(lengths, ends, strict=True)]
        nodes = [context_node(parts[0])]
        nodes += [action_node(part, parent) for parent, part in enumerate(parts[1:])]
        assert logprobs(oracle, TokenTree(tuple(nodes))).abs().max() < 1e-4

    def test_one_wrong_token_costs_itself_and_its_successor(self) -> None:
        oracle = Oracle()
        tokens = [3, *oracle.continuation(3, 0, 6)]
        tokens[4] = (tokens[4] + 1) % VOCABULARY
        tree = TokenTree((context_node(tokens[:2]), action_node(tokens[2:], 0)))
        assert (logprobs(oracle, tree) < -50).tolist() == [False, False, True, True, False]

    def test_siblings_are_certain_only_of_the_parents_continuation(self) -> None:
        oracle = Oracle()
        right = oracle.continuation(5, 1, 3)
        wrong = [(right[0] + 1) % VOCABULARY]
        tree = group_tree([2, 5], [right, wrong, right[:1]])
        assert (logprobs(oracle, tree) < -50).tolist() == [False] * 3 + [True, False]


def logprobs(model: nn.Module, tree: TokenTree) -> Tensor:
    with torch.no_grad():
        seen: TrainedTokens = trained_logprobs(model, [tree], 1.0)
    return seen.logprobs


class TestRefusals:
    def test_layers_that_do_not_ask_for_attention(self, random_llama: nn.Module) -> None:
        random_llama.config.num_hidden_layers = 3
        random_llama.model.layers.append(nn.Identity())
        random_llama.model.layers[2].forward = lambda x, **_: x
        with pytest.raises(Refusal, match="has 3 layers, 2 of them plain attention"):
            trained_logprobs(random_llama, [group_tree([3], [[4]])], 1.0)

    def test_attention_of_another_kind(self, random_llama: nn.Module) -> None:
        config, layer = random_llama.config, random_llama.model.layers[0].self_attn
        plain = layer.forward
        layer.forward = lambda *args, **kwargs: plain(*args, softcap=30.0, **kwargs)
        before = config._attn_implementation
        with pytest.raises(Refusal, match="uses softcap"):
            trained_logprobs(random_llama, [group_tree([3], [[4]])], 1.0)
        assert config._attn_implementation == before


def test_a_sliding_window() -> None:
    """A Mistral that sees five tokens back, against branches run alone."""
    config = MistralConfig(
        vocab_size=VOCABULARY,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        sliding_window=5,
        initializer_range=0.2,
    )
    torch.manual_seed(0)
    model = MistralForCausalLM(config).eval()
    tree = group_tree(list(range(2, 12)), [[3, 4, 5], [6], [7, 8, 9, 10, 11, 12, 13]])
    with torch.no_grad():
        seen = trained_logprobs(model, [tree], 1.0)
        truth = naive.trained_tokens(model, tree, 1.0)
    torch.testing.assert_close(seen.logprobs, truth.logprobs, atol=FP32, rtol=0)
