"""Tasks that the user's code makes."""

import re
from pathlib import Path

import numpy as np
import pytest
from support.own_tasks import CODE, code, own

from swarm.errors import BadTask
from swarm.tasks import Score

#: Its rows are made only when they are read.
LAZY = """from types import SimpleNamespace as Made
def rows():
    yield 1 / 0
def make():
    return Made(rows=rows(), reward=print)
"""


class TestCode:
    def test_it_brings_its_reward(self, tmp_path: Path) -> None:
        task = own(code(tmp_path))
        problem = task.draw(np.random.default_rng(0), task.levels)
        assert task.score(problem, ["", "x", "xy"]) == [
            Score(None, None),
            Score(0.5, False),
            Score(1.0, True),
        ]

    @pytest.mark.parametrize(
        ("text", "named"),
        [
            ("def make(:", "mine.py raised SyntaxError"),
            ("x = 1", "mine.py has no function 'make'"),
            (
                "def make():\n    return 1 / 0",
                "make raised ZeroDivisionError: division by zero (mine.py:2); correct",
            ),
            ("raise SystemExit(0)", "mine.py raised SystemExit: 0 (mine.py:1)"),
            (LAZY, "make raised ZeroDivisionError: division by zero (mine.py:3)"),
            ("def make():\n    return 3", "make made a int without a function `reward`"),
            (CODE.replace("rows: list", "lines: list"), "make made something without `rows`"),
            (CODE.replace('{"prompt": f"{i}>", "gold": 2}', "i"), "row 1 is int"),
            (CODE.replace('"gold": 2', '"gold": {2}'), "row 1: Object of type set"),
        ],
    )
    def test_what_cannot_be_used_is_named(self, tmp_path: Path, text: str, named: str) -> None:
        with pytest.raises(BadTask, match=re.escape(named)):
            own(code(tmp_path, text))

    def test_what_lies_beside_it_is_not_imported(self, tmp_path: Path) -> None:
        (tmp_path / "beside_it.py").write_text("")
        said = r"beside_it lies beside mine\.py; .* by design: .* put its code into the file"
        for text in ("import beside_it", "def make():\n    from beside_it import x"):
            with pytest.raises(BadTask, match=f"ModuleNotFoundError.*{said}"):
                own(code(tmp_path, text))

    @pytest.mark.parametrize("error", ["BaseException", "GeneratorExit", "RecursionError"])
    def test_whatever_it_raises_is_its_own(self, tmp_path: Path, error: str) -> None:
        with pytest.raises(BadTask, match=f"make raised {error}"):
            own(code(tmp_path, f"def make():\n    raise {error}"))

    def test_a_make_that_hangs_is_ended(self, tmp_path: Path) -> None:
        text = "import time\ndef make():\n    time.sleep(60)"
        with pytest.raises(BadTask, match=r"make did not end within 0\.2 s; .*task\.time_limit"):
            own(code(tmp_path, text), time_limit=0.2)

    def test_what_it_prints_is_not_on_stdout(
        self, tmp_path: Path, capsys: pytest.CaptureFixture
    ) -> None:
        own(code(tmp_path, CODE.replace("    return Made", "    print('made')\n    return Made")))
        said = capsys.readouterr()
        assert (said.out, said.err) == ("", "made\n")
