"""What no reader took: sides of comparisons, names, and words that outweigh the rest."""

import pytest
from support.plans import intent_for

from swarm.errors import Refusal


@pytest.mark.parametrize(
    ("topic", "said"),
    [
        ("GRPO vs banana", "'banana'"),
        ("group size 4 vs a learned schedule", "'a learned schedule'"),
        ("curriculum vs spaced repetition", "'spaced repetition'"),
        ("GRPO, bananas and RLOO", "'bananas'"),
        ("no baseline vs learned baseline", "'learned baseline'"),
        ("long vs short answers", "'long'"),
        ("train only the last 2 layers vs all", "2 layers"),
        ("SFT vs RL", "'RL'"),
        ("GRPO vs SFT", "sft_warmup"),
        ("SFT vs SFT+RL", "both sides of its comparison name sft_warmup"),
        ("high KL vs low KL", "both sides of its comparison name kl_coef"),
        ("PPO clip 0.2 vs no clip", "'no clip'"),
        ("GRPO without clip-higher vs DAPO", "'without clip higher'"),
        ("lr 1e-4 vs default", "'default'"),
        ("GRPO vs XYZZY", "XYZZY"),
        ("group size 4 vs 16 with GiGPOX", "GiGPOX"),
        ("SuperGRPO with group size 4 vs 16", "SuperGRPO"),
        ("group size 4 vs 16 under foo2", "foo2"),
    ],
)
def test_a_side_or_a_name_that_is_not_understood_is_named(topic: str, said: str) -> None:
    with pytest.raises(Refusal, match=said) as refused:
        intent_for(topic)
    assert refused.value.field == "topic"


@pytest.mark.parametrize(
    ("topic", "words"),
    [
        ("effect of batch size on training stability", "stability"),
        ("does the learning rate matter for harmonious gardening", "harmonious, gardening"),
        ("does reward shaping hurt calibration?", "calibration"),
        ("Does Müller et al.'s baseline matter for GRPO?", "Müller"),
    ],
)
def test_other_words_are_said_as_the_user_wrote_them(topic: str, words: str) -> None:
    assert f"not used: {words}" in intent_for(topic).left_aside


def test_words_that_outweigh_what_is_understood_refuse_the_topic() -> None:
    with pytest.raises(Refusal, match="most of it is not understood: scare, cute, furry"):
        intent_for("does noise scare cute furry little kittens and puppies")


def test_a_playbooks_own_topic_is_not_judged() -> None:
    assert intent_for("is the reference model worth its memory?").left_aside == ()
    assert intent_for("is rank 1 enough?").factors[0].levels == (1,)


def test_sides_that_differ_in_two_things_are_crossed_and_that_is_said() -> None:
    notes = intent_for("GRPO lr 1e-4 vs RLOO lr 1e-3").left_aside
    assert any("every combination is an arm" in note for note in notes)
    assert intent_for("learning rate and batch size").left_aside == ()
