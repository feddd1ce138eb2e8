"""Tasks by name, and what judges their answers."""

import inspect
from collections.abc import Callable
from types import MappingProxyType

import pytest

from swarm import tasks
from swarm.errors import Refusal
from swarm.tasks import builtin, evaluator_digest, own_rows, strings, task_family


class TestNames:
    def test_known(self) -> None:
        assert set(tasks.names()) >= {"reverse", "sort", "chain", "order"}
        for name in tasks.names():
            assert "exact" in tasks.rewards(name)
            assert tasks.family(name).name == name

    def test_an_unknown_family_is_named_beside_the_known(self) -> None:
        with pytest.raises(Refusal, match=r"task\.ref: 'revers' is unknown; known: reverse"):
            tasks.family("revers")


def digests() -> dict[str, str]:
    return {name: evaluator_digest(name) for name in tasks.names()}


#: Replaces a piece of text in the source that a class, function or module is said to have.
Edit = Callable[[object, str, str], None]


@pytest.fixture
def edit(monkeypatch: pytest.MonkeyPatch) -> Edit:
    edits: list[tuple[str, str]] = []
    real = inspect.getsource

    def source(thing: object) -> str:
        text = real(thing)
        for old, new in edits:
            text = text.replace(old, new)
        return text

    def edited(owner: object, old: str, new: str) -> None:
        assert old in real(owner)
        edits.append((old, new))

    monkeypatch.setattr(inspect, "getsource", source)
    return edited


class TestEvaluatorDigest:
    def test_each_family_has_its_own(self) -> None:
        assert len(set(digests().values())) == len(tasks.names())
        assert digests() == digests()

    def test_a_new_family_leaves_the_others(self, monkeypatch: pytest.MonkeyPatch) -> None:
        class Doubled(strings.Reverse):
            name = "doubled"

        before = digests()
        monkeypatch.setattr(
            tasks, "FAMILIES", MappingProxyType({**tasks.FAMILIES, "doubled": Doubled()})
        )
        after = digests()
        assert {name: after[name] for name in before} == before
        assert after["doubled"] not in before.values()

    def test_a_changed_family_leaves_those_that_do_not_build_on_it(self, edit: Edit) -> None:
        """`order` has a prompt letter of its own; nothing builds on it."""
        before = digests()
        edit(strings.Order, 'f"O:', 'f"Q:')
        after = digests()
        assert {name for name in before if after[name] != before[name]} == {"order"}

    def test_a_changed_base_changes_what_builds_on_it(self, edit: Edit) -> None:
        before = digests()
        edit(strings.Reverse, "[::-1]", "[::-2]")
        after = digests()
        assert after["reverse"] != before["reverse"]
        assert after["chain"] == before["chain"]

    def test_how_prompts_are_held_out_counts_for_all(self, edit: Edit) -> None:
        before = digests()
        edit(task_family.held_out, "20_260_101", "20_260_102")
        after = digests()
        assert all(after[name] != before[name] for name in before)

    def test_a_constant_beside_a_family_counts_for_those_that_use_its_file(
        self, edit: Edit
    ) -> None:
        before = digests()
        edit(strings, 'LETTERS = "abc', 'LETTERS = "bac')
        after = digests()
        assert {n for n in before if after[n] != before[n]} == {"reverse", "sort", "order"}

    def test_the_share_that_is_held_out_counts_for_all(self, edit: Edit) -> None:
        before = digests()
        edit(task_family, "HELD_OUT = 8", "HELD_OUT = 2")
        assert all(after != before[name] for name, after in digests().items())

    def test_how_a_family_is_asked_and_scored_counts(self, edit: Edit) -> None:
        before = digests()
        edit(builtin.BuiltIn.score, "self.family.correct(problem, text)", "True")
        assert all(after != before[name] for name, after in digests().items())

    def test_an_error_message_is_no_part_of_it(self, edit: Edit) -> None:
        before = digests()
        edit(builtin, "held-out prompts", "prompts held out")
        assert digests() == before

    def test_the_users_own_task_has_one_that_no_family_has(self, edit: Edit) -> None:
        own = evaluator_digest("data.jsonl")
        assert own == evaluator_digest("mine.py:make")
        assert own not in digests().values()
        families = digests()
        edit(own_rows, "def row", "def a_row")
        assert evaluator_digest("data.jsonl") != own
        assert digests() == families
