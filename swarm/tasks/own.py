"""A task from the user's own files."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from swarm.config.base import JsonValue, canonical_digest
from swarm.config.parts import TaskSettings
from swarm.config.train import TrainConfig
from swarm.errors import BadTask
from swarm.records import NO_LIMIT, Limit
from swarm.tasks import code
from swarm.tasks.checkers import CHECKERS
from swarm.tasks.data_files import read
from swarm.tasks.hub import read_hub
from swarm.tasks.judges import Judge, exact_match
from swarm.tasks.layouts import OWN, Layout, at
from swarm.tasks.likeness import normalised
from swarm.tasks.own_rows import Row, Rows, is_text, laid_out
from swarm.tasks.refs import OwnRef, code_ref
from swarm.tasks.task import Score
from swarm.tasks.task_family import HELD_OUT, Problem, Split

#: What rows are for: some to train and some to evaluate on, by the hash of the prompt, or all for
#: one of the two.
Use = Literal["both", "train", "eval"]

#: Sides that prompts are on, train or eval, by their normalised text.
Sides = dict[str, Split]


def load_own(
    ref: OwnRef, settings: TaskSettings, sides: Sides | None = None, use: Use = "both"
) -> "OwnTask":
    """The task of these files. `sides` says on which side of the split prompts are already, and is
    added to; `use` puts all on one. Raises BadTask naming the file, and the row where one is
    wrong."""
    if ref.function is not None:
        for name in ("columns", "split"):
            if getattr(settings, name):
                raise BadTask("code brings its own rows", "leave it out", f"task.{name}")
        rows, judge = code.made(ref, settings.args, settings.seconds)
        return _split(rows, judge, settings.template, sides, use)
    if settings.args:
        name = sorted(settings.args)[0]
        raise BadTask("rows take no arguments", "drop them", f"task.args.{name}")
    rows = read_rows(ref, settings)
    judged, by = _with_judge(rows, settings, str(ref))
    return _split(judged, by, settings.template, sides, use)


def read_rows(ref: OwnRef, settings: TaskSettings) -> Rows:
    """The checked rows of a file, a folder or a hub id, in order. Raises BadTask."""
    found = read_hub(ref.hub, settings.split) if ref.hub else read(ref.path, settings.split)
    return laid_out(found, settings.columns)


def _with_judge(rows: Rows, settings: TaskSettings, source: str) -> tuple[Rows, Judge]:
    """Rows with what judges them: a checker, or a function beside them, whose file then counts in
    the digest. Raises BadTask where a checker has nothing to compare with."""
    if ref := code_ref(settings.reward):
        told = [
            replace(r, columns={"answer": r.answer, **r.columns}) if r.answer else r
            for r in rows.rows
        ]
        judge, digest = code.reward_judge(ref, told, settings.seconds, source)
        return Rows(tuple(told), canonical_digest([digest, rows.digest]), rows.layout), judge
    checker = CHECKERS.get(settings.reward)
    for row in rows.rows:
        if not row.answer.strip():
            _no_answer(row, rows.layout)
        if checker and (why := checker.unusable(row.answer)):
            raise BadTask(
                f"row {row.number}: its answer {row.answer[:40]!r} {why}",
                "correct it, or take another reward: exact, math or file.py:function",
                "task.reward",
            )
    return rows, checker or exact_match


def _no_answer(row: Row, layout: Layout) -> None:
    if layout.rivals:
        raise BadTask(
            f"rows hold {' and '.join(map(repr, layout.rivals))}, and either may be the answer",
            f"say which: task.columns.answer={layout.rivals[0]}",
            "task.columns.answer",
        )
    name = layout.columns.get("answer", "answer")
    value = at(row.columns, name)
    if value is not None and not is_text(value):
        raise BadTask(
            f"row {row.number}: its {name} is {type(value).__name__}",
            "write text, or give a reward that reads it with task.reward=file.py:function",
        )
    raise BadTask(
        f"row {row.number} has no `{name}`",
        "give one, name its column with task.columns.answer, or a reward with "
        "task.reward=file.py:function",
    )


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
    layout: Layout = OWN

    @property
    def notes(self) -> tuple[str, ...]:
        return (self.layout.note,) if self.layout.note else ()

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
        """The row's `demonstration`, else the answer that its messages end with, else `answer`, in
        whole where that ends a worked solution."""
        row = _row(problem)
        return row.worked or row.shown or row.answer

    def encode(self, tokenizer: Any, problem: Problem) -> list[int]:
        row = _row(problem)
        if not tokenizer.chat_template:  # one message of a user's is its text
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
            if _is_talk(row) and not tokenizer.chat_template:
                raise BadTask(
                    f"row {row.number} is a chat of several messages, and this model has no chat "
                    "template",
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


def _split(
    rows: Rows,
    judge: Judge,
    template: Mapping[str, JsonValue],
    sides: Sides | None = None,
    use: Use = "both",
) -> OwnTask:
    """Train and held-out rows, apart by the hash of the prompt; each held-out prompt once. Prompts
    that differ in form, white space or case alone are on the side of the first of them."""
    sides = {} if sides is None else sides
    side = [sides.setdefault(normalised(row.prompt), row.split) for row in rows.rows]
    if use != "both":
        side = [use] * len(rows.rows)
    sided = list(zip(rows.rows, side, strict=True))
    train = sorted((row for row, on in sided if on == "train"), key=lambda row: row.level)
    held_out = {row.prompt: row for row, on in reversed(sided) if on == "eval"}
    if not (train and held_out if use == "both" else rows.rows):
        part = "trains" if held_out else "is held out"
        raise BadTask(
            f"of {len(rows.rows)} rows none {part}",
            f"give more: about one prompt in {HELD_OUT} is held out, by its hash",
        )
    last = tuple(reversed(held_out.values()))
    return OwnTask(tuple(train), last, judge, rows.digest, template, layout=rows.layout)


def _is_talk(row: Row) -> bool:
    """Whether a row is more of a chat than one message of a user's, which is as good as text."""
    return len(row.messages) > 1 or any(m["role"] != "user" for m in row.messages)


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
