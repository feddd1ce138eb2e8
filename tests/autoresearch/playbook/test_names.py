"""Names in playbooks that nothing has."""

from pathlib import Path

import pytest

from autoresearch.planner.planning import plan_study
from autoresearch.playbook import Library
from autoresearch.playbook.library import BUILT_IN
from autoresearch.study.options import StartOptions
from swarm.errors import Refusal


def test_a_playbook_with_an_unknown_name_is_refused_with_its_line(tmp_path: Path) -> None:
    text = (BUILT_IN / "group-size.yaml").read_text().replace("name: group_size", "name: grp_size")
    (tmp_path / "group-size.yaml").write_text(text)
    library = Library((("project", tmp_path), ("built-in", BUILT_IN)))
    options = StartOptions(topic="x", playbook="group-size")
    line = text.split("name: grp_size")[0].count("\n") + 1
    with pytest.raises(Refusal, match=rf"group-size.yaml:{line}: PB101 .*did you mean group_size"):
        plan_study(options, library)
