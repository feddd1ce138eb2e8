"""Seeds are hashes of what they belong to."""

from hypothesis import given
from hypothesis import strategies as st

from swarm import seeds

parts = st.lists(st.one_of(st.integers(), st.text("abc", max_size=3)), min_size=1, max_size=4)


@given(a=parts, b=parts)
def test_different_parts_give_different_seeds(a: list, b: list) -> None:
    """Joined by a separator: (1, 23) is not (12, 3)."""
    assert (seeds.derive(*a) == seeds.derive(*b)) == ([str(x) for x in a] == [str(x) for x in b])


@given(a=parts)
def test_they_fit_a_signed_integer_of_64_bits(a: list) -> None:
    assert 0 <= seeds.derive(*a) < 2**63


def test_they_never_change() -> None:
    """Stored runs replay only while these values stand."""
    assert seeds.derive(0, "rollout", 3, 1, 2) == 537696213767809927
    assert seeds.generator(0, "prompt", 0, 0).integers(0, 2**31) == 92189336
