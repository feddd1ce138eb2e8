"""What JSON cannot hold is null."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from swarm.disk.strict_json import strict

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
    max_leaves=8,
)


@given(VALUES)
def test_any_value_becomes_strict_json(value: Any) -> None:
    text = json.dumps(strict(value), allow_nan=False)
    assert strict(json.loads(text)) == json.loads(text)


def test_what_is_finite_stays() -> None:
    kept = {"a": [1, 0.5, -0.0, True, None, "NaN"], "b": {"c": 10**30}}
    assert strict(kept) == kept
    assert strict([float("nan"), (float("inf"),)]) == [None, [None]]
