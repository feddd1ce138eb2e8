"""The user's own tasks: what they depend on, and how a model is asked."""

import re
from pathlib import Path

import numpy as np
import pytest
from support.own_tasks import CODE, SUMS, code, own, written

from swarm.config.parts import TaskSettings
from swarm.config.train import TrainConfig
from swarm.errors import BadTask
from swarm.models.tokenizer import build_tokenizer

TOKENIZER = build_tokenizer()


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


class TestPrompts:
    CHAT = (
        "{% for m in messages %}{{ m.role[0] }}:{{ m.content }}.{% endfor %}"
        "{% if add_generation_prompt %}a:{% endif %}"
    )

    def test_raw_text_without_a_template(self, tmp_path: Path) -> None:
        task = own(written(tmp_path, SUMS))
        problem = task.evaluation(1)[0]
        assert TOKENIZER.decode(task.encode(TOKENIZER, problem)) == problem.prompt

    def test_one_message_of_a_users_is_its_text(self, tmp_path: Path) -> None:
        rows = [{**row, "prompt": [{"role": "user", "content": row["prompt"]}]} for row in SUMS]
        task = own(written(tmp_path, rows))
        task.check(TOKENIZER, TrainConfig())
        problem = task.evaluation(1)[0]
        assert TOKENIZER.decode(task.encode(TOKENIZER, problem)) == problem.prompt
        rows[4]["prompt"] = [{"role": "system", "content": "a"}]
        with pytest.raises(BadTask, match="row 5 is a chat"):
            own(written(tmp_path, rows)).check(TOKENIZER, TrainConfig())

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
            ({"prompt": [{"role": "user", "content": "a"}] * 2}, {}, "row 5 is a chat of several"),
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
