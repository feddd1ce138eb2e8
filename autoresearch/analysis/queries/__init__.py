"""The queries that claims are computed by, and recomputed by when a report is verified."""

import inspect
from collections.abc import Callable, Mapping

from autoresearch.analysis.evidence import Answer
from autoresearch.analysis.queries import accounts, noise, outcomes

_ROOMS = {"outcomes": outcomes, "sizing": noise, "accounts": accounts}

QUERIES: Mapping[str, Callable[..., Answer]] = {
    f"{room}.{name}": function
    for room, module in _ROOMS.items()
    for name, function in inspect.getmembers(module, inspect.isfunction)
    if function.__module__ == module.__name__ and not name.startswith("_")
}
"""What a claim's query names: every public function of the three modules.

`accounts` are claims of kind `accounting`, all others outcomes.
"""
