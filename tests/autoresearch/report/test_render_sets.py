"""What a report says of the user's data and of evaluation sets."""

from pathlib import Path

import pytest
from support import synthetic_study
from support.synthetic_study import SMALL, make_study

from autoresearch.analysis.claims import claims_of
from autoresearch.analysis.evidence import Evidence
from autoresearch.report import build, verify
from autoresearch.report.render import render
from autoresearch.study.facts import StudyFacts
from autoresearch.study.home import Home
from autoresearch.study.plan import Plan
from swarm.config.parts import EvalSet

SETS = (
    EvalSet(
        ref="/d/t|est.jsonl",
        name="test",
        prompts=200,
        k=8,
        temperature=0.6,
        reward="math",
        digest="ab" * 32,
    ),
    EvalSet(ref="sort", name="sort", prompts=64),
)


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[StudyFacts, Home]:
    """A study on rows, with two evaluation sets and a hypothesis on the first."""
    plain = synthetic_study.make_plan

    def make_plan(shape: synthetic_study.Shape) -> Plan:
        plan = plain(shape)
        evaluation = plan.train.evaluation.model_copy(update={"sets": SETS})
        task = plan.train.task.model_copy(update={"digest": "cd" * 32})
        train = plan.train.model_copy(update={"evaluation": evaluation, "task": task})
        tested = plan.hypotheses[0].model_copy(update={"metric": "eval/test/pass@8"})
        return plan.model_copy(
            update={"train": train, "hypotheses": (tested,), "tasks": ("/d/train.jsonl",)}
        )

    write = synthetic_study.RunWriter.metrics
    monkeypatch.setattr(synthetic_study, "make_plan", make_plan)

    def with_the_set(self: object, step: int, wall: float, values: dict[str, float]) -> None:
        more = {"eval/test/pass@8": values["eval/acc"]} if "eval/acc" in values else {}
        write(self, step, wall, values | more)  # type: ignore[arg-type]

    monkeypatch.setattr(synthetic_study.RunWriter, "metrics", with_the_set)
    home = Home(tmp_path)
    return make_study(home, SMALL), home


def test_sets_and_data_are_named_by_their_hashes(study: tuple[StudyFacts, Home]) -> None:
    text = render(claims_of(Evidence(study[0])))
    design = text.split("## Design\n")[1].split("\n## ")[0]
    row = "| `test` | `/d/t\\|est.jsonl` | 200 | 8 | 0.6 | `math` | `" + "ab" * 32 + "` |"
    assert row in design
    assert "| `sort` | `sort` | 64 | 1 | 1 | – | – |" in design
    assert f"Trained on, by sha256: `/d/train.jsonl` `{'cd' * 32}`." in design
    assert "held-out prompts" not in text
    assert "| evaluation | every `10` |" in design
    assert "`eval/test/pass@8` at step" in text


def test_a_report_on_a_set_verifies_and_an_edited_k_is_found(
    study: tuple[StudyFacts, Home],
) -> None:
    facts, home = study
    report = build(facts, home)
    assert verify(facts, home) == []
    text = (report / "report.md").read_text()
    (report / "report.md").write_text(text.replace("| 200 | 8 | 0.6 |", "| 200 | 4 | 0.6 |"))
    assert verify(facts, home)
