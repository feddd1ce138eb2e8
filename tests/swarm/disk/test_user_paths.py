"""Paths in a home that may not be there."""

from pathlib import Path

import pytest

from swarm.disk.user_paths import expanded, home_folder


def test_a_home_is_replaced_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert home_folder() == Path("/home/me")
    assert expanded("~/x") == Path("/home/me/x")
    assert expanded("~no-such-user/x") == Path("~no-such-user/x")
