"""A report as MLflow's description: links that mean something there, and what fits."""

from pathlib import Path

import pytest

from autoresearch.execute.mlflow_text import LONGEST, as_description


@pytest.fixture
def report(tmp_path: Path) -> Path:
    return tmp_path / "report.md"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("![Scores](figures/scores.png)", "*(figure: Scores, `figures/scores.png`)*"),
        ("[scores.csv](figures/scores.csv)", "scores.csv"),
        ("[`a/1/adapter`](../../runs/s/a/1/adapter)", "`a/1/adapter`"),
        ("[the plan](preregistration.json)", "the plan (`preregistration.json`)"),
        ("[a paper](https://arxiv.org/abs/1)", "[a paper](https://arxiv.org/abs/1)"),
        ("# Title", "### Title"),
        ("| [−0.088, +0.093] |", "| [−0.088, +0.093] |"),
    ],
)
def test_links_to_files_become_their_paths(report: Path, written: str, shown: str) -> None:
    report.write_text(f"{written}\n", encoding="utf-8")
    assert as_description(report) == f"{shown}\n\nThe whole report, with its figures: `{report}`"


def test_a_long_report_ends_before_the_section_that_does_not_fit(report: Path) -> None:
    first = "## One\n\n" + "word " * 1000
    report.write_text(f"# Title\n\n{first}\n\n## Two\n\n" + "x " * 9000, encoding="utf-8")
    shown = as_description(report)
    assert len(shown) <= LONGEST
    assert "#### One" in shown
    assert "Two" not in shown
    assert "x x" not in shown
    assert shown.endswith(f"`{report}`")


def test_a_long_first_section_ends_after_a_paragraph_that_fits(report: Path) -> None:
    report.write_text("short\n\n" + "x" * 9000, encoding="utf-8")
    assert as_description(report).startswith("short\n\nThe whole report")
    report.write_text("x" * 9000, encoding="utf-8")
    assert len(as_description(report)) == LONGEST
