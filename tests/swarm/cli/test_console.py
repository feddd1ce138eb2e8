"""What a run shows on the terminal."""

import pytest

from swarm.cli.console import COLUMNS, heading, line

pytestmark = pytest.mark.usefixtures("tiny_model")


def test_lines_keep_their_columns() -> None:
    full = {metric: 0.5 for _, metric, _ in COLUMNS} | {"time/learn": 1.0}
    assert len(heading()) == len(line(3, full)) == len(line(3, {}))
    assert line(12, {}).split() == ["12", "0.00s", *["-"] * len(COLUMNS)]
