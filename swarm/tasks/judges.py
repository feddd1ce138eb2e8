"""Who scores the completions of a user's row: exact match, or the user's own functions."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Protocol

from swarm.config.parts import TIME_LIMIT
from swarm.tasks.asking import Asked, Function
from swarm.tasks.layouts import VERL, at
from swarm.tasks.own_rows import Row
from swarm.tasks.refs import CORRECT_FROM
from swarm.tasks.signatures import EXTRAS, signature_of
from swarm.tasks.task import Answer, Score


class Judge(Protocol):
    """Scores the completions of one row."""

    def __call__(self, row: Row, completions: Sequence[str]) -> list[Score]: ...


def exact_match(row: Row, completions: Sequence[str]) -> list[Score]:
    """1 for the row's `answer`, white space around it aside, else 0."""
    right = [text.strip() == row.answer.strip() for text in completions]
    return [Score(float(same), same) for same in right]


@dataclass(frozen=True)
class OwnJudge:
    """The user's `reward` and, for the true metric, `correct`, called as TRL calls reward
    functions; `place` is the file they are in. A call may take `limit` seconds. What TRL passes
    besides columns goes to a function that names it, and, with `extras`, to one that takes any
    keyword."""

    reward: Function
    correct: Function | None
    place: str
    limit: float = TIME_LIMIT
    extras: bool = False

    def __call__(self, row: Row, completions: Sequence[str]) -> list[Score]:
        """One call of each function a row. Raises RewardFailed naming the function and the row."""
        asked = Asked(self.reward, self.place, self.limit)
        rewards = [
            None if value is None else asked.number(value, row)
            for value in self._call(asked, row, completions)
        ]
        if self.correct is None:
            return [Score(r, None if r is None else r >= CORRECT_FROM) for r in rewards]
        asked = Asked(self.correct, self.place, self.limit)
        flags = [
            None if value is None else bool(asked.number(value, row))
            for value in self._call(asked, row, completions)
        ]
        return [Score(r, flag) for r, flag in zip(rewards, flags, strict=True)]

    def _call(self, asked: Asked, row: Row, completions: Sequence[str]) -> Sequence[Any]:
        n = len(completions)
        prompts: list[Any] = [row.prompt] * n
        answers: list[Any] = [str(text) for text in completions]
        if row.messages:
            prompts = [list(row.messages)] * n
            answers = [[{"role": "assistant", "content": text}] for text in answers]
        columns = {name: [value] * n for name, value in row.columns.items()}
        named = self._extras(asked.function, completions)
        given = {"prompts": prompts, "completions": answers, **named, **columns}
        signature = signature_of(asked.function)
        if self.extras and signature is not None:
            given = signature.chosen(given)
        values = asked.call(row, lambda function: function(**given))
        if not isinstance(values, list | tuple):
            raise asked.failed(f"returned {type(values).__name__}, not a list,", row)
        if len(values) != n:
            raise asked.failed(f"returned {len(values)} values for {n} completions", row)
        return values

    def _extras(self, function: Function, completions: Sequence[str]) -> dict[str, Any]:
        signature = signature_of(function)
        if signature is None:
            return {}
        wanted = [n for n in EXTRAS if n in signature.takes or (self.extras and signature.others)]
        return {name: _extra(name, completions) for name in wanted}


def _extra(name: str, completions: Sequence[str]) -> Any:
    """What TRL passes under this name: the sampled tokens; where training stands, of which
    `global_step` is kept; and two functions that log, which here nothing listens to."""
    sampled = [text for text in completions if isinstance(text, Answer)]
    if name == "completion_ids":
        return [list(answer.tokens) for answer in sampled]
    if name == "trainer_state":
        return SimpleNamespace(global_step=max((answer.version for answer in sampled), default=0))
    return lambda *args, **kwargs: None


@dataclass(frozen=True)
class VerlJudge:
    """The user's `compute_score` in verl's signature, called once a completion. It returns a
    number, or a dict whose `score` is the reward and whose `acc`, if it has one, the true metric.
    `source` stands for `data_source` where rows have none."""

    function: Function
    place: str
    limit: float = TIME_LIMIT
    source: str = ""

    def __call__(self, row: Row, completions: Sequence[str]) -> list[Score]:
        """Raises RewardFailed naming the function and the row."""
        asked = Asked(self.function, self.place, self.limit)
        values = {
            "data_source": row.columns.get("data_source", self.source),
            "ground_truth": ground_truth(row),
            "extra_info": row.columns.get("extra_info") or {},
        }
        signature = signature_of(self.function)
        given = values if signature is None else signature.chosen(values)
        found = asked.call(
            row,
            lambda function: [
                function(solution_str=str(text), **copy.deepcopy(given)) for text in completions
            ],
        )
        return [self._score(asked, value, row) for value in found]

    def _score(self, asked: Asked, value: Any, row: Row) -> Score:
        if not isinstance(value, dict):
            reward = asked.number(value, row)
            return Score(reward, reward >= CORRECT_FROM)
        if "score" not in value:
            raise asked.failed("returned a dict without 'score'", row)
        reward = asked.number(value["score"], row)
        accurate = value.get("acc")
        right = reward >= CORRECT_FROM if accurate is None else bool(asked.number(accurate, row))
        return Score(reward, right)


def ground_truth(row: Row) -> Any:
    """What verl's rows hold in `reward_model`, else the row's answer; None where it has neither."""
    held = at(row.columns, VERL)
    return (row.answer or None) if held is None else held
