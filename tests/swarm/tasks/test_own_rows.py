"""The user's own rows: read, split, refused."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.own_tasks import SUMS, own, written

from swarm.errors import BadTask
from swarm.tasks import Score
from swarm.tasks.own_rows import row
from swarm.tasks.task_family import HELD_OUT


class TestRows:
    def test_held_out_prompts_are_never_asked(self, tmp_path: Path) -> None:
        task = own(written(tmp_path, SUMS * 2))
        held_out = [p.prompt for p in task.evaluation(1000)]
        rng = np.random.default_rng(0)
        asked = {task.draw(rng, task.levels).prompt for _ in range(3000)}
        assert len(set(held_out)) == len(held_out) >= len(SUMS) / HELD_OUT / 3
        assert not asked & set(held_out)
        assert asked | set(held_out) == {row["prompt"] for row in SUMS}
        assert [p.prompt for p in task.evaluation(3)] == held_out[:3]

    def test_levels_are_respected(self, tmp_path: Path) -> None:
        rows = [{"prompt": f"{i}>", "answer": i, "level": 1 + i % 3} for i in range(90)]
        task = own(written(tmp_path, rows))
        rng = np.random.default_rng(0)
        assert task.levels == (1, 3)
        assert {task.draw(rng, (1, 2)).level for _ in range(300)} == {1, 2}
        assert {task.draw(rng, (2, 2)).level for _ in range(300)} == {2}
        assert task.known_levels == (1, 2, 3)

    @pytest.mark.parametrize(
        ("text", "named"),
        [
            ("", "of 0 rows none"),
            ('{"prompt": "a", "answer": "b"}\n', "of 1 rows none"),
            ('\n{"prompt": "a"', "line 2 is not JSON"),
            ("[1]\n", "line 1 is not a JSON object"),
            ('{"answer": "b"}\n', "row 1 has no `prompt`"),
            ('{"prompt": "", "answer": "b"}\n', "row 1 has an empty prompt"),
            ('{"prompt": "a"}\n', "row 1 has no `answer`"),
            ('{"prompt": "a", "answer": "  "}\n', "row 1 has no `answer`"),
            ('{"prompt": "a", "answer": "b", "answer": "c"}\n', "the key 'answer' stands twice"),
            ('{"prompt": "a", "answer": [1]}\n', "row 1: its answer is list"),
            ('{"prompt": "a", "answer": "b", "level": 0}\n', "row 1: level 0"),
            ('{"prompt": [{"role": "user"}], "answer": "b"}\n', "row 1 holds a message"),
        ],
    )
    def test_what_cannot_be_used_is_named(self, tmp_path: Path, text: str, named: str) -> None:
        path = tmp_path / "data.jsonl"
        path.write_text(text)
        with pytest.raises(BadTask, match=re.escape(named)):
            own(path)

    @pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
    def test_another_encoding_is_named(self, tmp_path: Path, encoding: str) -> None:
        path = tmp_path / "data.jsonl"
        path.write_text('\ufeff{"prompt": "a", "answer": "b"}\n', encoding=encoding)
        with pytest.raises(BadTask, match=r"data\.jsonl is UTF-16; save it as UTF-8"):
            own(path)

    def test_a_prompt_that_is_null_leaves_the_chat(self) -> None:
        chat = [{"role": "user", "content": "1+1?"}]
        assert row(1, {"prompt": None, "messages": chat, "answer": 2}).prompt == "1+1?"

    @pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e999"])
    @pytest.mark.parametrize("column", ["answer", "note"])
    def test_a_number_that_is_not_finite_names_its_row(
        self, tmp_path: Path, column: str, value: str
    ) -> None:
        path = tmp_path / "data.jsonl"
        rest = "" if column == "answer" else ', "answer": "b"'
        path.write_text(f'{{"prompt": "?", "{column}": {value}{rest}}}\n')
        with pytest.raises(BadTask, match="row 1 holds a number that is not finite"):
            own(path)

    @pytest.mark.parametrize(
        ("answer", "text"),
        [(72, "72"), (72.0, "72"), (-3.0, "-3"), (1e3, "1000"), (2.5, "2.5"), ("72.0", "72.0")],
    )
    def test_a_whole_number_is_one_however_it_is_written(self, answer: Any, text: str) -> None:
        assert row(1, {"prompt": "?", "answer": answer}).answer == text

    def test_the_answer_that_a_chat_ends_with_is_not_asked(self) -> None:
        asked, given = {"role": "user", "content": "2+2="}, {"role": "assistant", "content": "4"}
        for raw, answer in (({}, "4"), ({"answer": "four"}, "four")):
            found = row(1, {"messages": [asked, given], **raw})
            assert (found.prompt, found.messages) == ("2+2=", (asked,))
            assert (found.answer, found.shown) == (answer, "4")
        longer = row(1, {"prompt": [asked, given, asked], "answer": "4"})
        assert longer.messages == (asked, given, asked)
        with pytest.raises(BadTask, match="row 1 holds an answer and no question"):
            row(1, {"messages": [given]})

    @pytest.mark.parametrize("column", ["prompt", "answer", "note"])
    def test_half_a_character_in_any_column_names_its_row(self, column: str) -> None:
        with pytest.raises(BadTask, match="row 3 holds half of a surrogate pair"):
            row(3, {"prompt": "?", "answer": "b", column: "\ud800"})

    def test_arguments_and_other_rewards_are_refused(self, tmp_path: Path) -> None:
        path = written(tmp_path, SUMS)
        with pytest.raises(BadTask, match=r"task\.args\.min"):
            own(path, args={"min": 3})
        with pytest.raises(BadTask, match=r"task\.reward: 'partial' is unknown; known: exact"):
            own(path, reward="partial")
        with pytest.raises(BadTask, match="there is no file"):
            own(tmp_path / "none.jsonl")

    @given(space=st.sampled_from(["", " ", "\n"]), answer=st.text("0123456789", min_size=1))
    def test_exact_match_sets_white_space_aside(self, space: str, answer: str) -> None:
        from swarm.tasks.judges import exact_match

        asked = row(1, {"prompt": "?", "answer": answer})
        assert exact_match(asked, [space + answer + space, answer + "x"]) == [
            Score(1.0, True),
            Score(0.0, False),
        ]
