"""Rows, chat template and tokenizer are checked together, by row number, once."""

import json
from pathlib import Path
from typing import Any

import pytest

from swarm.config.parts import TaskSettings
from swarm.config.train import TrainConfig
from swarm.errors import BadTask
from swarm.models.tokenizer import build_tokenizer
from swarm.records import Limit
from swarm.tasks import Task, load

PLAIN = "{% for m in messages %}{{ m['content'] }}{% endfor %}"
NO_SYSTEM = (
    "{% if messages[0]['role'] == 'system' %}"
    "{{ raise_exception('System role not supported') }}{% endif %}" + PLAIN
)
THINKS = (
    PLAIN + "{% if enable_thinking is defined and not enable_thinking %}>{% else %}>#{% endif %}"
)


def task_of(folder: Path, last: Any = None, **settings: Any) -> Task:
    rows = [{"prompt": f"{i}+1=", "answer": str(i + 1)} for i in range(99)]
    lines = [json.dumps(row) for row in rows + ([last] if last else [])]
    (folder / "data.jsonl").write_text("\n".join(lines))
    return load(TaskSettings(ref=str(folder / "data.jsonl"), **settings))


def tokenizer_with(template: str | None) -> Any:
    tokenizer = build_tokenizer()
    tokenizer.chat_template = template
    return tokenizer


def test_a_row_that_the_template_cannot_write(tmp_path: Path) -> None:
    said = [{"role": "system", "content": "a"}, {"role": "user", "content": "1+1="}]
    tokenizer = tokenizer_with(NO_SYSTEM)
    tokenizer.unk_token = None
    task = task_of(tmp_path, {"messages": said, "answer": "2"})
    with pytest.raises(BadTask, match=r"row 100: .*cannot write it .System role not supported"):
        task.check(tokenizer, TrainConfig())
    task_of(tmp_path).check(tokenizer, TrainConfig())


def test_a_template_that_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(BadTask, match=r"row 1: .* writes nothing"):
        task_of(tmp_path).check(tokenizer_with("{# #}"), TrainConfig())


def test_arguments_reach_the_template(tmp_path: Path) -> None:
    tokenizer = tokenizer_with(THINKS)
    thinking, plain = task_of(tmp_path), task_of(tmp_path, template={"enable_thinking": False})
    problem = plain.evaluation(1)[0]
    plain.check(tokenizer, TrainConfig())
    assert tokenizer.decode(plain.encode(tokenizer, problem)) == f"{problem.prompt}>"
    assert plain.encode(tokenizer, problem) == thinking.encode(tokenizer, problem)[:-1]


@pytest.mark.parametrize("template", [None, PLAIN])
def test_an_argument_that_is_not_read(tmp_path: Path, template: str | None) -> None:
    task = task_of(tmp_path, template={"enable_thinking": False})
    with pytest.raises(BadTask, match=r"task\.template\.enable_thinking: .* does not read it"):
        task.check(tokenizer_with(template), TrainConfig())


def test_a_builtin_task_has_no_template() -> None:
    with pytest.raises(BadTask, match=r"task\.template\.enable_thinking"):
        load(TaskSettings(template={"enable_thinking": False}))


def test_without_arguments_a_config_is_what_it_was() -> None:
    config = TrainConfig()
    assert "template" not in config.model_dump(mode="json")["task"]
    asked = config.with_values({"task.template.enable_thinking": False})
    assert asked.model_dump(mode="json")["task"]["template"] == {"enable_thinking": False}
    assert asked.digest() != config.digest()
    assert TrainConfig.model_validate(asked.model_dump()) == asked


class TestLength:
    def test_a_prompt_beyond_what_the_model_takes(self, tmp_path: Path) -> None:
        task = task_of(tmp_path, {"prompt": "1" * 20, "answer": "1"})
        task.check(build_tokenizer(), TrainConfig(), Limit(36, "rope"))
        task.check(build_tokenizer(), TrainConfig(), Limit(24))  # then its answers are shorter
        with pytest.raises(BadTask, match=r"row 100: its prompt has 20 tokens.* the 24 .*rope"):
            task.check(build_tokenizer(), TrainConfig(), Limit(24, "rope"))

    def test_a_supervised_row(self, tmp_path: Path) -> None:
        task = task_of(tmp_path, {"prompt": "1+1=", "answer": "1" * 20})
        task.check(build_tokenizer(), TrainConfig(), Limit(24))
        warm = TrainConfig().with_values({"warmup.steps": 1})
        task.check(build_tokenizer(), warm, Limit(25))
        with pytest.raises(BadTask, match="row 100: prompt and answer have 25 tokens, more than"):
            task.check(build_tokenizer(), warm, Limit(24))


def test_an_end_behind_every_text_is_no_part_of_a_prompt(tmp_path: Path) -> None:
    from tokenizers.processors import TemplateProcessing

    tokenizer = build_tokenizer()
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="$A <eos>", special_tokens=[("<eos>", tokenizer.eos_token_id)]
    )
    task = task_of(tmp_path)
    problem = task.evaluation(1)[0]
    assert tokenizer.encode(problem.prompt)[-1] == tokenizer.eos_token_id
    assert tokenizer.decode(task.encode(tokenizer, problem)) == problem.prompt
