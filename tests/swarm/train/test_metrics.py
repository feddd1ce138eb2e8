"""Metrics are sums over counts: how a batch was cut cannot be seen in them."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.scored_groups import episode, group, random_groups

from swarm.learn.learner import UpdateMetrics
from swarm.records import Group, StopReason
from swarm.train import metrics


class TestRollouts:
    GROUPS = (
        group([2, 3], episode([4] * 3, 1.0), episode([4] * 5, 0.5), episode([4], None)),
        group([2], episode([4] * 2, 0.0), episode([4] * 2, 0.0), episode([4] * 5, 0.0)),
    )

    def test_by_hand(self) -> None:
        found = metrics.of_rollouts(self.GROUPS)
        assert found["reward/mean"] == pytest.approx(0.3)
        assert found["reward/std"] == pytest.approx(0.4)
        assert (found["reward/min"], found["reward/max"]) == (0.0, 1.0)
        assert found["reward/zero_std_frac"] == 0.5
        assert found["completions/mean_length"] == 3.0
        assert found["completions/mean_length_correct"] == 3.0
        assert found["completions/mean_length_wrong"] == 3.0
        assert (found["tokens/prompt"], found["tokens/completion"]) == (3.0, 18.0)
        assert metrics.token_count(self.GROUPS) == 21

    def test_truncation_is_read_from_the_stop_reason(self) -> None:
        def truncated(g: Group) -> Group:
            first = g.episodes[0]
            cut = replace(first.completion, stop=StopReason.LENGTH)
            return replace(g, episodes=(replace(first, completion=cut), *g.episodes[1:]))

        groups = [truncated(self.GROUPS[0]), self.GROUPS[1]]
        assert metrics.of_rollouts(groups)["completions/truncated_frac"] == pytest.approx(1 / 6)
        assert metrics.of_rollouts(self.GROUPS)["completions/truncated_frac"] == 0.0

    @given(seed=st.integers(0, 99))
    def test_the_order_of_groups_and_an_unscored_episode(self, seed: int) -> None:
        groups = random_groups(seed, unscored=0.2)
        found, backwards = metrics.of_rollouts(groups), metrics.of_rollouts(groups[::-1])
        assert found == pytest.approx(backwards, nan_ok=True)
        first = groups[0]
        more = replace(first, episodes=(*first.episodes, episode([4], None)))
        added = metrics.of_rollouts([more, *groups[1:]])
        for name in (
            "reward/mean",
            "reward/std",
            "reward/min",
            "reward/max",
            "reward/zero_std_frac",
        ):
            assert added[name] == pytest.approx(found[name], nan_ok=True)

    def test_nothing_scored(self) -> None:
        found = metrics.of_rollouts([group([2], episode([4], None))])
        assert math.isnan(found["reward/mean"])
        assert found["reward/zero_std_frac"] == 1.0


def test_evaluation_by_hand() -> None:
    groups = [group([2], episode([4] * n, r)) for n, r in ((3, 1.0), (5, 0.25), (1, 0.5))]
    found = metrics.of_evaluation(groups)
    assert found["eval/acc"] == pytest.approx(1 / 3)
    assert found["eval/proxy"] == pytest.approx(1.75 / 3)
    assert (found["eval/length"], found["eval/length_wrong"]) == (3.0, 3.0)


@st.composite
def updates(draw: st.DrawFn) -> UpdateMetrics:
    clipped = [float(draw(st.integers(0, 50))) for _ in range(2)]
    tokens = draw(st.integers(1, 1000))
    sums = {
        "policy": draw(st.floats(-1, 1)),
        "kl": draw(st.floats(0, 10)),
        "entropy": draw(st.floats(0, 1000)),
        "clipped": sum(clipped),
        **dict(zip(("clipped_low", "clipped_high"), clipped, strict=True)),
        "mismatch": draw(st.floats(0, 1)),
    }
    maxima = {"ratio": draw(st.floats(1, 3)), "gap": draw(st.floats(0, 3))}
    return UpdateMetrics(tokens, sums, maxima, draw(st.floats(0, 2)), 1e-3)


class TestUpdates:
    @given(several=st.lists(updates(), min_size=1, max_size=5))
    def test_token_means_weigh_updates_by_their_tokens(self, several: list[UpdateMetrics]) -> None:
        found = metrics.of_updates(several)
        tokens = sum(u.tokens for u in several)
        assert found["tokens/trained"] == tokens
        entropy = sum(u.sums["entropy"] / u.tokens * u.tokens / tokens for u in several)
        assert found["policy/entropy"] == pytest.approx(entropy)
        assert found["policy/clip_frac"] == pytest.approx(
            found["policy/clip_frac_low"] + found["policy/clip_frac_high"]
        )
        assert found["policy/ratio_max"] == max(u.maxima["ratio"] for u in several)

    @given(several=st.lists(updates(), min_size=2, max_size=5))
    def test_the_mismatch_is_measured_before_the_policy_moves(
        self, several: list[UpdateMetrics]
    ) -> None:
        first, found = metrics.of_updates(several[:1]), metrics.of_updates(several)
        for name in ("mismatch/kl", "mismatch/logprob_abs_diff_max"):
            assert found[name] == first[name]

    def test_no_update(self) -> None:
        assert metrics.of_updates([]) == {"tokens/trained": 0.0}

    def test_by_hand(self) -> None:
        sampled = UpdateMetrics(
            4,
            {
                "policy": 1.0,
                "kl": 3.0,
                "mismatch": 2.0,
                "behaviour": 6.0,
                "behaviour_squares": 12.0,
            },
            {"ratio": 2.0},
            3.0,
            1e-2,
        )
        later = UpdateMetrics(6, {**sampled.sums, "kl": 1.0, "behaviour": 0.0}, {}, 1.0, 1e-3)
        assert metrics.of_updates([sampled, later]) == {
            "loss/policy": 1.0,
            "loss/kl": 2.0,
            "mismatch/kl": 0.5,
            "mismatch/ess": 0.75,
            "policy/ratio_max": 2.0,
            "optim/grad_norm": 2.0,
            "optim/lr": 1e-3,
            "tokens/trained": 10.0,
        }

    def test_pairs_are_a_denominator_of_their_own(self) -> None:
        sums = [
            {"pairs": 3.0, "margin": 1.0, "wins": 2.0},
            {"pairs": 1.0, "margin": 1.0, "wins": 1.0},
        ]
        found = metrics.of_updates([UpdateMetrics(9, each, {}, 0.0, 0.0) for each in sums])
        assert (found["dpo/margin"], found["dpo/acc"]) == (0.5, 0.75)

    def test_an_update_without_a_token_has_no_figures(self) -> None:
        """And the next is the first that shows the gap to the sampler."""
        empty = UpdateMetrics(0, {}, {}, 0.0, 1e-3)
        full = UpdateMetrics(2, {"mismatch": 1.0}, {"gap": 0.5}, 1.0, 1e-3)
        found = metrics.of_updates([empty, full])
        assert (found["mismatch/kl"], found["mismatch/logprob_abs_diff_max"]) == (0.5, 0.5)
        assert found["optim/grad_norm"] == 0.5
