"""What a topic says of evaluations."""

from pathlib import Path

import pytest
from support.plans import intent_for

from swarm.errors import Refusal


@pytest.mark.parametrize(
    ("topic", "sets", "metric"),
    [
        ("group size 4 vs 16 with pass@8", [{"k": 8}], "eval/held-out/pass@8"),
        ("baseline none vs group, avg@8", [{"k": 8}], "eval/held-out/avg@8"),
        (
            "kl 0 vs 0.1, pass@4 at temperature 0.6",
            [{"k": 4, "temperature": 0.6}],
            "eval/held-out/pass@4",
        ),
        ("weight decay 0 vs 0.1 with temperature 0.6 at evaluation", [{"temperature": 0.6}], None),
        ("temperature 0.7 vs 1.2, eval temperature 0.5", [{"temperature": 0.5}], None),
        ("temperature 0.6 vs 1.0, evaluated at temperature 0.6", [{"temperature": 0.6}], None),
        ("lr 1e-4 vs 1e-3, tested on 256 held-out prompts", [{"prompts": 256}], None),
        ("does entropy bonus raise pass@16?", [{"k": 16}], "eval/held-out/pass@16"),
        ("KL 0 vs 0.1: pass@1", [], "eval/acc"),
        ("does the KL change held-out accuracy?", [], "eval/acc"),
    ],
)
def test_without_a_set_the_tasks_own_prompts_are_asked(
    topic: str, sets: list[dict[str, object]], metric: str | None
) -> None:
    intent = intent_for(topic)
    made = [each.model_dump(exclude_defaults=True) for each in intent.evaluation]
    assert made == [{"ref": "held-out", **settings} for settings in sets]
    assert intent.metric == metric
    assert intent.left_aside == ()


def test_every_so_many_steps() -> None:
    assert intent_for("group size 4 vs 16, evaluate every 20 steps").eval_every == 20
    asked = intent_for("group size 2 vs 8; eval every 10 steps on 128 prompts")
    assert (asked.eval_every, asked.evaluation[0].prompts) == (10, 128)


def test_train_on_one_and_test_on_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    asked = intent_for("train on a.jsonl, test on b.jsonl with avg@4: kl 0 vs 0.1")
    assert asked.task == str(tmp_path / "a.jsonl")
    assert [(each.ref, each.k) for each in asked.evaluation] == [(str(tmp_path / "b.jsonl"), 4)]
    assert asked.metric == "eval/b/avg@4"
    built_in = intent_for("lr 1e-4 vs 1e-3: train on sort, test on reverse")
    assert (built_in.task, built_in.evaluation[0].ref) == ("sort", "reverse")


@pytest.mark.parametrize(
    ("topic", "named"),
    [
        ("lr 1e-4 vs 1e-3 by maj@16", "maj@16"),
        ("lr 1e-4 vs 1e-3 by pass@k", "pass@k says no k"),
        ("lr 1e-4 vs 1e-3 by pass@4 and pass@8", "pass@4 and pass@8"),
        ("lr 1e-4 vs 1e-3 with greedy evaluation", "greedy evaluation"),
        ("lr 1e-4 vs 1e-3, tested on AIME24", "AIME24"),
        ("lr 1e-4 vs 1e-3, pass@8 at temperature 9", "temperature"),
    ],
)
def test_what_is_not_measured_is_refused(topic: str, named: str) -> None:
    with pytest.raises(Refusal, match=named):
        intent_for(topic)


def test_an_option_must_bring_what_the_topic_asks() -> None:
    given = ({"ref": "aime24.jsonl", "k": 32, "temperature": 0.6},)
    asked = intent_for("GRPO vs RLOO on AIME24, avg@32 at temperature 0.6", evaluation=given)
    assert (asked.metric, asked.left_aside) == ("eval/aime24/avg@32", ())
    for topic, named in {
        "GRPO vs RLOO by avg@8": "with k 8",
        "GRPO vs RLOO, evaluation temperature 1.0": "temperature 1",
        "GRPO vs RLOO on 64 test problems": "prompts 64",
    }.items():
        with pytest.raises(Refusal, match=named):
            intent_for(topic, evaluation=given)
    other = intent_for("GRPO vs RLOO, evaluated on MATH-500", evaluation=given)
    assert any("MATH-500" in note and "aime24" in note for note in other.left_aside)
