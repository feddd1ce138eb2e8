"""Numbers in digits and words."""

import pytest

from autoresearch.topic.quantities import amount, one_of, single, whole
from autoresearch.topic.stretches import Text, phrase
from swarm.errors import Refusal


def test_numbers_as_people_write_them() -> None:
    assert [whole(said) for said in ("16", "1,000", "1k", "1e3", "Three", "a dozen")] == [
        16, 1000, 1000, 1000, 3, 12
    ]  # fmt: skip
    assert [amount(said) for said in ("2.5", "half an", "an", "two")] == [2.5, 0.5, 1.0, 2.0]
    with pytest.raises(ValueError, match="not a whole number"):
        whole("2.5")


def test_one_thing_has_one_value() -> None:
    pattern = phrase(r"(?P<n>\d+)\sseeds")
    assert one_of(Text("5 seeds and 5 seeds"), pattern, "seeds", whole) == 5
    assert one_of(Text("none"), pattern, "seeds", whole) is None
    with pytest.raises(Refusal, match="'5 seeds' and '6 seeds'"):
        one_of(Text("5 seeds or 6 seeds"), pattern, "seeds", whole)
    with pytest.raises(Refusal, match="'0 seeds' is none"):
        single({0: "0 seeds"}, "seeds")
    assert single({0: "seed 0"}, "seed", least=0) == 0
