"""Words of the field take nothing away from the catalogue."""

from autoresearch.topic.aliases import aliases
from autoresearch.topic.field import FIELD
from autoresearch.topic.words import canonical


def test_they_are_canonical_and_none_alone_names_a_factor() -> None:
    assert all(canonical(word) == word for word in FIELD)
    alone = {
        alias.words[0]
        for alias in aliases()
        if len(alias.words) == 1 and not (alias.symbol or alias.weak)
    }
    assert FIELD & alone == set()
