"""A task from the user's own files."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from swarm.config.base import JsonValue
from swarm.config.parts import TIME_LIMIT
from swarm.config.train import TrainConfig
from swarm.errors import BadTask
from swarm.records import NO_LIMIT, Limit
from swarm.tasks import code
from swarm.tasks.judges import Judge, exact_match
from swarm.tasks.own_rows import Row, Rows, from_file
from swarm.tasks.refs import OwnRef
from swarm.tasks.task import Score
from swarm.tasks.task_family import HELD_OUT, Problem


def load_own(
    ref: OwnRef,
    args: Mapping[str, JsonValue],
    template: Mapping[str, JsonValue] = MappingProxyType({}),
    limit: float = TIME_LIMIT,
) -> "OwnTask":
    """The task of these files, asked with these arguments of a chat template; a call of the user's
    functions may take `limit` seconds. Raises BadTask naming the file, and the row where one is
    wrong."""
    if ref.function is not None:
        rows, judge = code.made(ref, args, limit)
        return _split(rows, judge, template)
    if args:
        raise BadTask("rows take no arguments", "drop them", f"task.args.{sorted(args)[0]}")
    rows = from_file(ref.path)
    for row in rows.rows:
        if not row.answer.strip():
            raise BadTask(
                f"row {row.number} has no `answer`", "give one, or a reward: --task file.py:make"
            )
    return _split(rows, exact_match, template)


@dataclass(frozen=True)
class OwnTask:
    """A `Task` over rows. Training draws rows uniformly; `train` is in order of level.

    A model with a chat template is asked in it, one without in raw text with the special tokens
    that its tokenizer puts before a text. `template` are arguments of the chat template.
    """

    train: tuple[Row, ...]
    held_out: tuple[Row, ...]
    judge: Judge
    digest: str
    template: Mapping[str, JsonValue] = field(default_factory=dict)
    name: str = "own"

    @property
    def levels(self) -> tuple[int, int]:
        return self.train[0].level, self.train[-1].level

    @property
    def known_levels(self) -> tuple[int, ...]:
        return tuple(sorted({row.level for row in self.train}))

    def draw(self, rng: np.random.Generator, levels: tuple[int, int]) -> Row:
        first = bisect_left(self.train, levels[0], key=lambda row: row.level)
        after = bisect_right(self.train, levels[1], key=lambda row: row.level)
        return self.train[int(rng.integers(first, after))]

    def evaluation(self, count: int) -> list[Problem]:
        """The first `count` held-out rows, or all where there are fewer."""
        return list(self.held_out[:count])

    def demonstration(self, problem: Problem, rng: np.random.Generator) -> str:
        """The row's `demonstration`, else the answer that its messages end with, else `answer`."""
        row = _row(problem)
        return str(row.columns.get("demonstration") or row.shown or row.answer)

    def encode(self, tokenizer: Any, problem: Problem) -> list[int]:
        row = _row(problem)
        if not tokenizer.chat_template:
            return _without_an_end(tokenizer, tokenizer.encode(row.prompt))
        messages = list(row.messages) or [{"role": "user", "content": row.prompt}]
        ids = tokenizer.apply_chat_template(
            messages,
            add_generation_prompt=True,
            tokenize=True,
            return_dict=False,
            **self.template,
        )
        return list(ids)

    def score(self, problem: Problem, completions: Sequence[str]) -> list[Score]:
        return self.judge(_row(problem), completions)

    def check(self, tokenizer: Any, config: TrainConfig, limit: Limit = NO_LIMIT) -> None:
        """Raise BadTask for a row that the tokenizer or its chat template cannot write, one that is
        longer than `limit`, a chat without a template, an argument that the template does not read,
        a curriculum without levels, supervision without answers."""
        order = config.data.order
        if order != "uniform" and self.levels[0] == self.levels[1]:
            raise BadTask(f"{order} needs rows of several levels", "add `level`", "data.order")
        supervised = config.warmup.steps > 0 or not config.algorithm.samples
        for name in sorted(self.template):
            if name not in str(tokenizer.chat_template or ""):
                raise BadTask(
                    "this model's chat template does not read it",
                    "leave it out, or take a model whose template does",
                    f"task.template.{name}",
                )
        for row in (*self.train, *self.held_out):
            if row.messages and not tokenizer.chat_template:
                raise BadTask(
                    f"row {row.number} is a chat, and this model has no chat template",
                    "give `prompt` as text, or take a chat model",
                )
            _check_text(tokenizer, row.number, row.prompt)
            prompt = len(self._written(tokenizer, row))
            if limit.why and prompt + config.sampling.max_tokens > limit.tokens:
                raise BadTask(
                    f"row {row.number}: its prompt has {prompt} tokens, which with "
                    f"sampling.max_tokens {config.sampling.max_tokens} is more than the "
                    f"{limit.tokens:.0f} that this model takes ({limit.why})",
                    "shorten it, or take another model",
                )
            if self.judge is exact_match:
                _check_text(tokenizer, row.number, row.answer)
            if supervised:
                shown = self.demonstration(row, np.random.default_rng(0))
                if not shown:
                    raise BadTask(
                        f"row {row.number} has no `demonstration` or `answer` to imitate",
                        "give one, or train without supervised steps",
                    )
                _check_text(tokenizer, row.number, shown)
                whole = prompt + len(tokenizer.encode(shown, add_special_tokens=False)) + 1
                if whole > limit.tokens:
                    raise BadTask(
                        f"row {row.number}: prompt and answer have {whole} tokens, more than the "
                        f"{limit.tokens:.0f} that this model takes",
                        "shorten it, or take another model",
                    )

    def _written(self, tokenizer: Any, row: Row) -> list[int]:
        """The row's prompt. Raises BadTask where the chat template raises, or writes nothing."""
        try:
            ids = self.encode(tokenizer, row)
        except Exception as error:  # a template may raise anything
            raise BadTask(
                f"row {row.number}: this model's chat template cannot write it "
                f"({' '.join(str(error).split()) or type(error).__name__})",
                "change the row's messages, or take another model",
            ) from error
        if not ids:
            raise BadTask(
                f"row {row.number}: this model's chat template writes nothing for it",
                "change the row's messages, or take another model",
            )
        return ids


def _split(rows: Rows, judge: Judge, template: Mapping[str, JsonValue]) -> OwnTask:
    """Train and held-out rows, apart by the hash of the prompt; each held-out prompt once."""
    train = sorted((r for r in rows.rows if r.split == "train"), key=lambda row: row.level)
    held_out = {row.prompt: row for row in reversed(rows.rows) if row.split == "eval"}
    if not train or not held_out:
        part = "trains" if held_out else "is held out"
        raise BadTask(
            f"of {len(rows.rows)} rows none {part}",
            f"give more: about one prompt in {HELD_OUT} is held out, by its hash",
        )
    return OwnTask(tuple(train), tuple(reversed(held_out.values())), judge, rows.digest, template)


def _row(problem: Problem) -> Row:
    if not isinstance(problem, Row):
        raise TypeError(f"{problem!r} is not one of the user's rows")
    return problem


def _without_an_end(tokenizer: Any, ids: Sequence[int]) -> list[int]:
    """A prompt without the end that some tokenizers put behind every text: an answer follows."""
    end = tokenizer.eos_token_id
    return list(ids[:-1] if len(ids) > 1 and end is not None and ids[-1] == end else ids)


def _check_text(tokenizer: Any, number: int, text: str) -> None:
    """Raise BadTask for text that holds what the tokenizer has no token for."""
    unknown = tokenizer.unk_token_id
    if unknown is None or unknown not in tokenizer.encode(text, add_special_tokens=False):
        return
    characters = _unknown(tokenizer, text)
    raise BadTask(
        f"row {number}: this model's tokenizer cannot write {''.join(characters)!r}",
        "take another model, or leave these characters out",
    )


def _unknown(tokenizer: Any, text: str) -> Iterable[str]:
    return [
        character
        for character in dict.fromkeys(text)
        if tokenizer.unk_token_id in tokenizer.encode(character, add_special_tokens=False)
    ]
