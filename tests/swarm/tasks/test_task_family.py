"""Every family: worked answers are right, rewards are in range, evaluation is held out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarm import tasks
from swarm.errors import Refusal
from swarm.models.tokenizer import CHARACTERS, build_tokenizer
from swarm.tasks import Problem
from swarm.tasks.builtin import levels_of
from swarm.tasks.task_family import HELD_OUT, TaskFamily, draw, held_out

FAMILIES = tuple(tasks.FAMILIES.values())
every_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.name)

seeds_ = st.integers(0, 2**32 - 1)
levels_ = st.integers(1, 12)
answers = st.text(CHARACTERS, max_size=14)


def problem_of(family: TaskFamily, seed: int, level: int) -> Problem:
    return family.problem(np.random.default_rng(seed), level)


@every_family
class TestEveryFamily:
    @given(seed=seeds_, level=levels_)
    def test_demonstrations_are_correct_and_earn_everything(
        self, family: TaskFamily, seed: int, level: int
    ) -> None:
        problem = problem_of(family, seed, level)
        answer = family.demonstration(problem, np.random.default_rng(seed))
        assert family.correct(problem, answer)
        assert {family.reward(name, problem, answer) for name in family.rewards} == {1.0}

    @given(seed=seeds_, level=levels_, answer=answers)
    def test_rewards_are_in_range_and_exact_is_the_true_metric(
        self, family: TaskFamily, seed: int, level: int, answer: str
    ) -> None:
        problem = problem_of(family, seed, level)
        for name in family.rewards:
            assert 0 <= family.reward(name, problem, answer) <= 1
        assert family.reward("exact", problem, answer) == family.correct(problem, answer)

    @given(seed=seeds_, level=levels_)
    def test_prompts_say_the_level_and_differ_from_other_families(
        self, family: TaskFamily, seed: int, level: int
    ) -> None:
        problem = problem_of(family, seed, level)
        assert problem.level == level
        assert len(problem.prompt) >= level
        assert {
            f.name for f in FAMILIES if problem_of(f, seed, 2).prompt[0] == problem.prompt[0]
        } == {family.name}

    @given(seed=seeds_)
    def test_the_character_tokenizer_reads_all_of_it(self, family: TaskFamily, seed: int) -> None:
        tokenizer = build_tokenizer()
        rng = np.random.default_rng(seed)
        problem = draw(family, "train", rng, family.levels)
        for text in (problem.prompt, family.demonstration(problem, rng)):
            ids = tokenizer.encode(text, add_special_tokens=False)
            assert tokenizer.decode(ids) == text
            assert tokenizer.unk_token_id not in ids

    def test_an_unknown_reward_is_an_error(self, family: TaskFamily) -> None:
        with pytest.raises(KeyError):
            family.reward("praise", problem_of(family, 0, 4), "")

    def test_held_out_problems_are_many_distinct_and_never_trained_on(
        self, family: TaskFamily
    ) -> None:
        problems = held_out(family, 512, family.levels)
        prompts = {problem.prompt for problem in problems}
        assert len(prompts) == 512
        assert {problem.split for problem in problems} == {"eval"}
        assert {problem.level for problem in problems} == set(
            range(family.levels[0], family.levels[1] + 1)
        )
        assert held_out(family, 512, family.levels) == problems
        rng = np.random.default_rng(0)
        trained = {draw(family, "train", rng, family.levels).prompt for _ in range(2000)}
        assert not trained & prompts

    @given(seed=seeds_, low=st.integers(1, 6), width=st.integers(0, 3))
    def test_a_draw_is_of_its_split_and_levels(
        self, family: TaskFamily, seed: int, low: int, width: int
    ) -> None:
        for split in ("train", "eval"):
            levels = (low + 3, low + 3 + width)
            problem = draw(family, split, np.random.default_rng(seed), levels)
            assert problem.split == split
            assert levels[0] <= problem.level <= levels[1]


def test_one_prompt_in_eight_is_held_out() -> None:
    rng = np.random.default_rng(1)
    family = tasks.family("reverse")
    splits = [family.problem(rng, 8).split for _ in range(4000)]
    share = splits.count("eval") / len(splits)
    # Four standard errors of a binomial share.
    assert abs(share - 1 / HELD_OUT) < 4 * np.sqrt(7 / 64 / len(splits))


class TestLevels:
    FAMILY = tasks.family("reverse")

    def test_a_family_has_its_own(self) -> None:
        assert levels_of(self.FAMILY, {}) == self.FAMILY.levels
        assert levels_of(self.FAMILY, {"max": 9}) == (self.FAMILY.levels[0], 9)

    @pytest.mark.parametrize(
        ("args", "named"),
        [
            ({"length": 3}, "length"),
            ({"min": 5, "max": 4}, "min 5 and max 4"),
            ({"min": 0}, "min 0"),
            ({"max": "8"}, "max '8'"),
        ],
    )
    def test_impossible_ones_are_named(self, args: dict, named: str) -> None:
        with pytest.raises(Refusal, match=rf"task\.args.*{named}"):
            levels_of(self.FAMILY, args)

    def test_where_prompts_are_few_the_search_for_held_out_ones_ends(self) -> None:
        """26 strings of one letter."""
        found = held_out(self.FAMILY, 64, (1, 1))
        assert 0 < len(found) < 26
        assert {problem.split for problem in found} == {"eval"}
