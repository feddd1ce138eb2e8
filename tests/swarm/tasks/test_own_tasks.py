"""The user's own rows and rewards: read, split, asked, judged, refused."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarm.config import TaskSettings, TrainConfig
from swarm.models.tokenizer import build_tokenizer
from swarm.tasks import BadTask, RewardFailed, Score, Task, absolute, is_own, load, rewards
from swarm.tasks.base import HELD_OUT
from swarm.tasks.judges import OwnJudge
from swarm.tasks.rows import Row, row

TOKENIZER = build_tokenizer()
SUMS = [{"prompt": f"{a}+{b}=", "answer": a + b} for a in range(10) for b in range(10)]

CODE = """
from dataclasses import dataclass, field

@dataclass
class Made:
    rows: list
    def reward(self, prompts, completions, gold, **columns):
        return [None if c == "" else len(c) / g for c, g in zip(completions, gold)]

def make(most=40):
    return Made([{"prompt": f"{i}>", "gold": 2} for i in range(most)])
"""


def written(folder: Path, rows: Sequence[Any], name: str = "data.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def code(folder: Path, text: str = CODE) -> str:
    path = folder / "mine.py"
    path.write_text(text)
    return f"{path}:make"


def own(ref: object, **values: Any) -> Task:
    return load(TaskSettings(ref=str(ref), **values))


class TestRefs:
    def test_kinds(self, tmp_path: Path) -> None:
        assert is_own("data.jsonl")
        assert is_own("a/b.py:make")
        assert not is_own("reverse")
        assert not is_own("mine.py")
        assert rewards("data.jsonl") == ("exact",)
        assert rewards("mine.py:make") == ("own",)

    def test_paths_become_absolute_and_names_stay(self, tmp_path: Path) -> None:
        assert absolute("x.jsonl", tmp_path) == str(tmp_path / "x.jsonl")
        assert absolute("../f.py:go", tmp_path) == f"{tmp_path.parent / 'f.py'}:go"
        assert absolute("/a/x.jsonl", tmp_path) == "/a/x.jsonl"
        assert absolute("reverse", tmp_path) == "reverse"


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
            ('\n{"prompt": "a"', "line 2 is no JSON"),
            ("[1]\n", "line 1 is no JSON object"),
            ('{"answer": "b"}\n', "row 1 has no `prompt`"),
            ('{"prompt": "", "answer": "b"}\n', "row 1 has an empty prompt"),
            ('{"prompt": "a"}\n', "row 1 has no `answer`"),
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

    def test_arguments_and_other_rewards_are_refused(self, tmp_path: Path) -> None:
        path = written(tmp_path, SUMS)
        with pytest.raises(BadTask, match=r"task\.args\.min"):
            own(path, args={"min": 3})
        with pytest.raises(ValueError, match=r"task\.reward 'partial' is unknown; known: exact"):
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


class TestDigest:
    def test_files_that_changed_are_refused(self, tmp_path: Path) -> None:
        path = written(tmp_path, SUMS)
        digest = own(path).digest
        assert own(path, digest=digest).digest == digest
        written(tmp_path, [*SUMS, {"prompt": "1+1=", "answer": 3}])
        with pytest.raises(BadTask, match=r"task\.digest: .*is not what was registered"):
            own(path, digest=digest)

    def test_code_its_rows_and_their_file_all_count(self, tmp_path: Path) -> None:
        first = own(code(tmp_path)).digest
        assert own(code(tmp_path)).digest == first
        others = {
            own(code(tmp_path, CODE + "# changed\n")).digest,
            own(code(tmp_path), args={"most": 41}).digest,
        }
        assert len(others | {first}) == 3

        from_file = "from types import SimpleNamespace as Made\ndef make():\n    return Made("
        from_file += "rows='data.jsonl', reward=lambda completions, **_: [0.0] * len(completions))"
        written(tmp_path, SUMS)
        before = own(code(tmp_path, from_file)).digest
        written(tmp_path, SUMS[1:])
        assert own(code(tmp_path, from_file)).digest != before

    def test_it_is_part_of_the_config(self) -> None:
        a, b = (TrainConfig(task=TaskSettings(ref="d.jsonl", digest=c * 64)) for c in "ab")
        assert a.digest() != b.digest()


class TestCode:
    def test_it_brings_its_reward(self, tmp_path: Path) -> None:
        task = own(code(tmp_path))
        problem = task.draw(np.random.default_rng(0), task.levels)
        assert task.score(problem, ["", "x", "xy"]) == [
            Score(None, False),
            Score(0.5, False),
            Score(1.0, True),
        ]

    @pytest.mark.parametrize(
        ("text", "named"),
        [
            ("def make(:", "mine.py raised SyntaxError"),
            ("x = 1", "mine.py has no function 'make'"),
            ("def make():\n    return 1 / 0", "make raised ZeroDivisionError: division by zero"),
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
        with pytest.raises(BadTask, match="ModuleNotFoundError"):
            own(code(tmp_path, "import beside_it"))


class TestJudge:
    ROW = row(7, {"prompt": "2+2=", "gold": "4", "answer": "4"})

    def judged(self, reward: Any, correct: Any = None, asked: Row = ROW) -> list[Score]:
        return OwnJudge(reward, correct, "mine.py")(asked, ["4", "5"])

    def test_functions_are_called_as_trl_calls_them(self) -> None:
        seen: dict[str, Any] = {}

        def reward(prompts: list[str], completions: list[str], **columns: list[Any]) -> list[float]:
            seen.update(prompts=prompts, completions=completions, **columns)
            return [np.float32(0.5), True]

        assert self.judged(reward) == [Score(0.5, False), Score(1.0, True)]
        assert seen == {
            "prompts": ["2+2="] * 2,
            "completions": ["4", "5"],
            "gold": ["4"] * 2,
            "answer": ["4"] * 2,
        }

    def test_a_chat_is_handed_over_as_messages(self) -> None:
        chat = [{"role": "user", "content": "2+2="}]
        seen = []

        def reward(prompts: list[Any], completions: list[Any]) -> list[float]:
            seen.extend([*prompts, *completions])
            return [0.0, 0.0]

        self.judged(reward, asked=row(1, {"messages": chat}))
        answers = [[{"role": "assistant", "content": text}] for text in ("4", "5")]
        assert seen == [chat, chat, *answers]

    def test_the_true_metric_may_be_another(self) -> None:
        scores = self.judged(
            lambda completions, **_: [None, 1.0],
            lambda completions, gold, **_: [c == g for c, g in zip(completions, gold, strict=True)],
        )
        assert scores == [Score(None, True), Score(1.0, False)]

    @pytest.mark.parametrize(
        ("value", "named"),
        [
            ([1.0], "returned 1 values for 2 completions"),
            ([1.0, 1.0, 1.0], "returned 3 values for 2 completions"),
            (1.0, "returned float, not a list,"),
            (np.zeros(2), "returned ndarray, not a list,"),
            ([1.0, "1"], "returned '1', no finite number,"),
            ([1.0, float("nan")], "returned nan, no finite number,"),
            ([[1.0], 1.0], "returned [1.0], no finite number,"),
        ],
    )
    def test_what_is_no_score_ends_the_run(self, value: Any, named: str) -> None:
        def my_reward(**_: Any) -> Any:
            return value

        with pytest.raises(RewardFailed, match=re.escape(named)) as caught:
            self.judged(my_reward)
        assert str(caught.value).endswith("on row 7")
        assert "my_reward in mine.py" in str(caught.value)

    def test_an_error_in_it_names_function_and_row(self) -> None:
        def broken(prompts: list[str], completions: list[str], **_: Any) -> list[float]:
            raise KeyError("gold")

        with pytest.raises(
            RewardFailed, match=r"broken in mine\.py raised KeyError: 'gold' on row 7"
        ):
            self.judged(broken)

    def test_a_failing_true_metric_counts_too(self) -> None:
        with pytest.raises(RewardFailed, match="raised ZeroDivisionError"):
            self.judged(lambda completions, **_: [0.0, 0.0], lambda **_: 1 / 0)


class TestPrompts:
    CHAT = (
        "{% for m in messages %}{{ m.role[0] }}:{{ m.content }}.{% endfor %}"
        "{% if add_generation_prompt %}a:{% endif %}"
    )

    def test_raw_text_without_a_template(self, tmp_path: Path) -> None:
        task = own(written(tmp_path, SUMS))
        problem = task.evaluation(1)[0]
        assert TOKENIZER.decode(task.encode(TOKENIZER, problem)) == problem.prompt

    @pytest.mark.parametrize("key", ["prompt", "messages"])
    def test_a_chat_template_is_applied(self, tmp_path: Path, key: str) -> None:
        tokenizer = build_tokenizer()
        tokenizer.chat_template = self.CHAT
        plain = own(written(tmp_path, SUMS)).evaluation(1)[0]
        text = tokenizer.decode(own(tmp_path / "data.jsonl").encode(tokenizer, plain))
        assert text == f"u:{plain.prompt}.a:"
        chats = [
            {key: [{"role": "system", "content": "x"}, {"role": "user", "content": s["prompt"]}]}
            | {"answer": 1}
            for s in SUMS
        ]
        task = own(written(tmp_path, chats))
        problem = task.evaluation(1)[0]
        text = tokenizer.decode(task.encode(tokenizer, problem))
        assert text == f"s:x.u:{problem.prompt.removeprefix('x' + chr(10))}.a:"

    @pytest.mark.parametrize(
        ("change", "values", "named"),
        [
            ({"prompt": "Was?"}, {}, "row 5: this model's tokenizer cannot write 'W?'"),
            ({"answer": "Q"}, {}, "row 5: this model's tokenizer cannot write 'Q'"),
            ({"demonstration": "E"}, {"warmup.steps": 1}, "cannot write 'E'"),
            ({}, {"data.order": "easy_first"}, "data.order: easy_first needs rows of several"),
            ({}, {"data.order": "by_signal"}, "data.order: by_signal needs rows of several"),
            ({"prompt": [{"role": "user", "content": "a"}]}, {}, "row 5 is a chat"),
        ],
    )
    def test_what_a_model_cannot_be_asked_is_refused(
        self, tmp_path: Path, change: dict, values: dict, named: str
    ) -> None:
        rows = [dict(row) for row in SUMS]
        rows[4] |= change
        task = own(written(tmp_path, rows))
        with pytest.raises(BadTask, match=re.escape(named)):
            task.check(TOKENIZER, TrainConfig().with_values(values))

    def test_supervision_needs_answers(self, tmp_path: Path) -> None:
        task = own(code(tmp_path))
        task.check(TOKENIZER, TrainConfig())
        with pytest.raises(BadTask, match="to imitate"):
            task.check(TOKENIZER, TrainConfig().with_values({"warmup.steps": 1}))

    def test_a_demonstration_goes_before_the_answer(self, tmp_path: Path) -> None:
        rows = [{**row, "demonstration": f"so {row['answer']}"} for row in SUMS]
        task, rng = own(written(tmp_path, rows)), np.random.default_rng(0)
        problem = task.draw(rng, task.levels)
        assert task.demonstration(problem, rng) == f"so {problem.answer}"
