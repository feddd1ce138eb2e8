"""The table of other trainers' settings: each leads somewhere, or says why not."""

from pathlib import Path

import pytest

from autoresearch.topic.dialects import KEYS
from autoresearch.topic.parse import parse
from autoresearch.topic.paths import paths_named
from autoresearch.topic.stretches import Text

#: Keys whose words are a circumstance of the study and no factor.
_COURSE = {"max_steps", "eval_temperature"}


@pytest.mark.parametrize("name", sorted(KEYS))
def test_a_key_names_a_factor_or_says_what_there_is_instead(name: str) -> None:
    key = KEYS[name]
    assert bool(key.words) != bool(key.absent)
    if key.words and name not in _COURSE:
        assert parse(key.words).treatments or paths_named(Text(key.words))


@pytest.mark.parametrize("name", sorted(name for name, key in KEYS.items() if key.values))
def test_each_value_is_a_level_of_the_keys_factor(name: str) -> None:
    key = KEYS[name]
    for value, meaning in key.values.items():
        assert value == value.lower()
        if meaning is None:
            continue
        said = f"{key.words}{'=' if '.' in key.words else ' '}{meaning}"
        levels = [level for named in parse(said).treatments for level in named.levels]
        levels += [level for named in paths_named(Text(said)) for level in named.levels]
        assert len(levels) == 1, said


def test_the_page_of_topics_names_every_key() -> None:
    page = (Path(__file__).parents[3] / "docs" / "topics.md").read_text()
    assert [name for name in KEYS if f"`{name}`" not in page] == []
