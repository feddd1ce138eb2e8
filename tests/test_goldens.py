"""Plans and trained weights are what they were; the claims of a study are compared where one is run
(`autoresearch/cli/test_start_end_to_end.py`)."""

from pathlib import Path

import pytest
from support import goldens


def test_the_plan_of_every_topic_is_what_it_was() -> None:
    rows = goldens.read("plans")
    assert len(rows) > 400
    changed = [r for r in rows if goldens.plan_digest(r["topic"], r["options"]) != r["plan"]]
    assert changed == []


@pytest.mark.parametrize("name", goldens.RUNS)
def test_the_weights_of_a_short_run_are_what_they_were(name: str, tmp_path: Path) -> None:
    golden = goldens.read("adapters")
    if golden["machine"] != goldens.machine():
        pytest.skip(f"kept on {golden['machine']}: another machine rounds otherwise")
    assert goldens.adapter_digest(goldens.RUNS[name], tmp_path / "run") == golden["adapters"][name]
