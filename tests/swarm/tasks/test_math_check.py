"""Mathematics compared by a child process."""

import threading
import time

from swarm.tasks.checkers import CHECKERS
from swarm.tasks.math_check import Comparer
from swarm.tasks.own_rows import row


def test_equality() -> None:
    same = CHECKERS["math"]
    asked = row(1, {"prompt": "?", "answer": "\\frac{1}{2}"})
    found = same(asked, ["it is $0.5$", "\\boxed{\\frac{2}{4}}", "$2$", "", "\ud800"])
    assert [score.correct for score in found] == [True, True, False, False, False]


def test_what_takes_forever_is_not_equal_and_ends() -> None:
    """math-verify's own limit is a signal, which C code does not hear, on the main thread."""
    comparer, found = Comparer(limit=2.0), []

    def compare() -> None:
        found.append(comparer.same("3", "$9^{9^{9^{9}}}$"))
        found.append(comparer.same("3", "$3$"))

    began = time.monotonic()
    thread = threading.Thread(target=compare)
    thread.start()
    thread.join()
    assert found == [False, True]
    assert time.monotonic() - began < 20


def test_a_child_that_was_killed_is_replaced() -> None:
    comparer = Comparer()
    assert comparer.same("3", "$3$")
    assert comparer._child is not None
    comparer._child.kill()
    comparer._child.wait()
    assert comparer.same("3", "$3$")  # the machine's doing is no wrong answer
