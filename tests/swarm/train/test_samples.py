"""What of a batch is kept to be read."""

from support.scored_groups import episode, group

from swarm.train.samples import SAMPLES, readable


def test_the_first_answer_to_the_first_prompts() -> None:
    groups = [group([2], episode([4] * n, None if n == 2 else 1.0)) for n in range(1, 9)]
    rows = list(readable(groups, 7))
    assert [(row["step"], row["tokens"]) for row in rows] == [(7, n + 1) for n in range(SAMPLES)]
    assert [row["reward"] for row in rows[:2]] == [1.0, None]
    assert {row["stop"] for row in rows} == {"stop"}
