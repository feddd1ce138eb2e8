"""Tables and figures in Markdown."""

from autoresearch.report.markdown import figure, table


def test_a_table_has_a_rule_and_numbers_to_the_right() -> None:
    text = table(("arm", "mean"), [("a", "0.5"), ("b", "0.25")], numeric=(1,))
    assert text.splitlines() == ["| arm | mean |", "| :-- | --: |", "| a | 0.5 |", "| b | 0.25 |"]


def test_a_figure_links_to_its_data() -> None:
    text = figure("curves", "lines", "They rise.")
    assert "![lines](figures/curves.png)" in text
    assert text.endswith("*They rise. Data: [curves.csv](figures/curves.csv).*")
