"""Problems of playbooks in one line."""

from pathlib import Path

import pytest

from autoresearch.playbook import Library, MalformedPlaybook

GOOD = """\
schema: autoresearch/playbook/v1
id: mine
title: Mine
factors:
  - name: group_size
    levels: [4, 16]
    control: 4
profiles:
  quick:
    pilot: 3
    looks: [5]
"""


def test_the_one_line_of_a_malformed_playbook_says_where(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(GOOD.replace("control: 4", "kontrol: 4"))
    library = Library((("project", tmp_path),))
    with pytest.raises(MalformedPlaybook, match=r"mine\.yaml:7: PB002 .*playbook lint"):
        library.load("mine")
