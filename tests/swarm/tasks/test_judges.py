"""Rewards of the user's own: called, checked, refused."""

import re
from typing import Any

import numpy as np
import pytest

from swarm.errors import RewardFailed
from swarm.tasks import Score
from swarm.tasks.judges import OwnJudge
from swarm.tasks.own_rows import Row, row


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
            ([1.0, "1"], "returned '1', which is not a finite number,"),
            ([1.0, float("nan")], "returned nan, which is not a finite number,"),
            ([[1.0], 1.0], "returned [1.0], which is not a finite number,"),
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

    def test_leaving_the_program_is_an_error_in_it(self) -> None:
        def leaves(**_: Any) -> list[float]:
            raise SystemExit(0)

        with pytest.raises(RewardFailed, match="raised SystemExit: 0 on row 7"):
            self.judged(leaves)

    def test_a_failing_true_metric_counts_too(self) -> None:
        with pytest.raises(RewardFailed, match="raised ZeroDivisionError"):
            self.judged(lambda completions, **_: [0.0, 0.0], lambda **_: 1 / 0)
