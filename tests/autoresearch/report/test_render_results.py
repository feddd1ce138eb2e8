"""What came out and what went wrong, as sections."""

from pathlib import Path

from support.synthetic_study import Shape, claims_of

from autoresearch.analysis.claims import ClaimSet
from autoresearch.report.render import render


def test_failures_causes_and_adapters_are_told(claims: ClaimSet) -> None:
    text = render(claims)
    assert "RuntimeError: the worker was killed (out of memory)" in text
    assert "loss was NaN at step 33" in text
    assert "attempt 1 lost: driver ended" in text
    assert "| zero-spread | pilot | `adv_std-group` | 1 | 21 | no reward spread in many" in text
    assert "- the budget of 600 s was raised to 900 s" in text
    assert "/1/adapter`](../../runs/adv-std-7c1e/attempts/" in text


def test_a_hypothesis_on_entropy_is_shown_with_accuracy_curves(tmp_path: Path) -> None:
    claims = claims_of(tmp_path, Shape(metric="policy/entropy", failed=()))
    text = render(claims)
    assert claims.by_id()["H1.effect"].unit == "nats per token"
    assert "(figures/curves.png)" in text
    assert "| `eval/acc` at step | 0 |" in text
    assert "**Score.** A trial's score on `policy/entropy` is the mean over the training" in text


def test_a_figure_links_to_its_data(claims: ClaimSet) -> None:
    text = render(claims)
    for name in ("effects", "scores", "curves", "dynamics"):
        assert f"](figures/{name}.png)\n\n*" in text
        assert f" Data: [{name}.csv](figures/{name}.csv).*\n" in text


def test_every_table_has_a_rule_and_as_many_cells_in_each_row(claims: ClaimSet) -> None:
    blocks = [b.splitlines() for b in render(claims).split("\n\n") if b.startswith("|")]
    assert len(blocks) >= 10
    for head, rule, *rows in blocks:
        assert set(rule.strip("| ").split(" | ")) <= {":--", "--:"}
        assert rows
        assert {row.count(" | ") for row in rows} == {head.count(" | ")} == {rule.count(" | ")}


def test_several_tasks_have_a_row_each(tmp_path: Path) -> None:
    text = render(claims_of(tmp_path, Shape(tasks=("reverse", "sort"), failed=())))
    assert "| `adv_std-none`, mean over tasks | 5 | " in text
    assert "| `adv_std-none` on `sort` | 5 | " in text
    assert "before training" not in text
