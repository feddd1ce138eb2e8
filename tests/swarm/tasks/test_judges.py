"""Rewards of the user's own: called, checked, refused."""

import re
import signal
import time
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from swarm.errors import RewardFailed, RewardOverdue
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
            ([1.0, 10**400], "returned 1000000"),
            ([1.0, 10**5000], "returned a value of int, which is not a finite number,"),
            ([1.0, 1e300], "returned 1e+300, which is not a finite number,"),
            ([1.0, float("inf")], "returned inf, which is not a finite number,"),
            ([1.0, np.ones(2)], "returned array([1., 1.]), which is not a finite number,"),
            ([1.0, {"score": 1.0}], "returned {'score': 1.0}, which is not a finite number,"),
        ],
    )
    def test_what_is_no_score_ends_the_run(self, value: Any, named: str) -> None:
        def my_reward(**_: Any) -> Any:
            return value

        with pytest.raises(RewardFailed, match=re.escape(named)) as caught:
            self.judged(my_reward)
        assert str(caught.value).endswith("on row 7; correct it and start anew")
        assert "my_reward in mine.py" in str(caught.value)

    def test_numbers_come_as_users_have_them(self) -> None:
        values = [
            (True, 1.0),
            (np.float32(0.5), 0.5),
            (np.int64(1), 1.0),
            (np.array(0.25), 0.25),
            (torch.tensor(0.75), 0.75),
            (Fraction(1, 2), 0.5),
        ]
        for value, number in values:
            assert self.judged(lambda given=value, **_: [given, None]) == [
                Score(number, number >= 1),
                Score(None, None),
            ]

    def test_whatever_it_raises_is_its_own(self) -> None:
        class Mute(BaseException):
            def __str__(self) -> str:
                raise RuntimeError

        def deep(**columns: Any) -> list[float]:
            return deep(**columns)

        def raises(error: BaseException) -> Any:
            def reward(**_: Any) -> list[float]:
                raise error

            return reward

        cases = {
            raises(Mute()): "raised Mute: its text cannot be read on row 7",
            raises(KeyboardInterrupt("mine")): "raised KeyboardInterrupt: mine on row 7",
            raises(GeneratorExit()): "raised GeneratorExit",
            deep: "raised RecursionError: maximum recursion",
        }
        for reward, said in cases.items():
            with pytest.raises(RewardFailed, match=said):
                self.judged(reward)

    def test_an_interrupt_from_outside_is_none_of_its_errors(self) -> None:
        def interrupted(**_: Any) -> list[float]:
            signal.raise_signal(signal.SIGINT)
            return [0.0, 0.0]

        usual = signal.default_int_handler  # what runs in the background may ignore it
        before = signal.signal(signal.SIGINT, usual)
        try:
            with pytest.raises(KeyboardInterrupt):
                self.judged(interrupted)
            assert signal.getsignal(signal.SIGINT) is usual
        finally:
            signal.signal(signal.SIGINT, before)

    def test_one_that_hangs_is_ended_with_the_name_of_the_limit(self) -> None:
        def hangs(**_: Any) -> list[float]:
            while True:
                time.sleep(30)

        with pytest.raises(RewardOverdue, match=r"hangs in mine\.py did not return within 0\.2 s"):
            OwnJudge(hangs, None, "mine.py", 0.2)(self.ROW, ["4"])

    def test_a_neighbour_that_it_imports_late_is_refused_by_design(self, tmp_path: Path) -> None:
        (tmp_path / "helper.py").write_text("")

        def reward(**_: Any) -> list[float]:
            import_module("helper")
            return [1.0]

        with pytest.raises(RewardFailed, match=r"helper lies beside mine\.py; .* by design"):
            OwnJudge(reward, None, str(tmp_path / "mine.py"))(self.ROW, ["4"])

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
