"""The form in which configs are hashed, and settings that cannot be changed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from swarm.config.base import Settings, canonical_digest, canonical_json, refuse

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


class Part(Settings):
    size: int = 1


def test_json_has_sorted_keys_no_spaces_and_letters_as_they_are() -> None:
    assert canonical_json({"b": [1, None], "a": "ü"}) == '{"a":"ü","b":[1,null]}'


@given(st.dictionaries(st.text(max_size=3), VALUES))
def test_the_order_of_keys_does_not_matter(value: dict) -> None:
    assert canonical_digest(dict(reversed(value.items()))) == canonical_digest(value)


def test_a_digest_never_changes() -> None:
    """It stands in registrations: another form would make every study look tampered with."""
    assert canonical_digest({"a": 1, "b": [0.5, "x"]}) == (
        "d9dda6d0c61c7433e4751740c766c964aa4c33cbf44060db3843e8fbbce9f537"
    )


def test_settings_are_frozen_and_know_their_keys() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Part().size = 2
    with pytest.raises(ValidationError, match="Extra inputs"):
        Part(siez=2)


def test_every_objection_is_told_at_once() -> None:
    refuse()
    with pytest.raises(ValueError, match=r"^a must rise; b must fall$"):
        refuse("a must rise", "b must fall")
