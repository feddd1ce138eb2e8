"""What a topic says, and nothing that it does not."""

import pytest

from autoresearch.topic.parse import Named, parse
from swarm.errors import Refusal


def levels(topic: str) -> dict[str, tuple]:
    return {named.factor: named.levels for named in parse(topic).treatments}


@pytest.mark.parametrize(
    ("topic", "expected"),
    [
        ("does the learning rate matter?", {"learning_rate": ()}),
        ("group size 4 vs 16", {"group_size": (4, 16)}),
        ("lr 1e-3 vs 3e-4 and batch size 64 vs 128",
         {"learning_rate": (1e-3, 3e-4), "batch_size": (64, 128)}),
        ("16 vs 4 completions per prompt", {"group_size": (16, 4)}),
        ("does lr 3e-4 beat 2e-3 with 10 seeds?", {"learning_rate": (3e-4, 2e-3)}),
        ("pizza in Rome", {}),
    ],
)  # fmt: skip
def test_numbers_go_to_the_factor_they_stand_by(topic: str, expected: dict[str, tuple]) -> None:
    assert levels(topic) == expected


def test_a_comparison_names_its_control_and_its_direction() -> None:
    (better,) = parse("is group size 16 better than 4?").treatments
    assert (better.control, better.direction) == (4, "greater")
    (worse,) = parse("is group size 16 worse than 4?").treatments
    assert (worse.control, worse.direction) == (4, "less")
    (open_,) = parse("group size 16 or 4?").treatments
    assert (open_.control, open_.direction) == (None, None)


def test_a_level_after_a_cue_is_held_fixed_beside_a_factor_under_test() -> None:
    parsed = parse("does the learning rate matter with group size 4?")
    assert parsed.factors == ("learning_rate",)
    assert [(n.factor, n.levels) for n in parsed.fixed] == [("group_size", (4,))]
    alone = parse("what happens with group size 4?")
    assert (alone.factors, alone.fixed) == (("group_size",), ())


def test_the_metric_and_its_place_are_known() -> None:
    parsed = parse("does weight decay change policy entropy?")
    assert parsed.metric == "policy/entropy"
    start, end = parsed.metric_span
    assert parsed.words[start:end] == ("policy", "entropy")
    assert parse("does weight decay matter?").metric is None


def test_a_preset_alone_is_the_setting_and_two_are_the_question() -> None:
    assert parse("does the group size matter in GRPO?").algorithm == "grpo"
    both = parse("GRPO vs RLOO")
    assert both.algorithm is None
    assert [(n.factor, n.levels) for n in both.treatments] == [("algorithm", ("grpo", "rloo"))]


def test_nothing_is_named_where_nothing_is_said() -> None:
    assert parse("does it?") == parse("does it?")
    assert parse("").treatments == ()


def test_a_level_out_of_range_is_refused() -> None:
    with pytest.raises(Refusal, match="whole number from 1 to 512"):
        parse("rank 1000")


def test_what_is_named_keeps_the_topics_own_words() -> None:
    assert parse("does the adapter rank matter?").treatments == (
        Named("lora_rank", words="adapter rank"),
    )
