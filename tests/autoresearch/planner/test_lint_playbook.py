"""Linting playbook files: every layer, with the line that caused it."""

import re
from pathlib import Path

import pytest

from autoresearch.planner.lint_playbook import lint
from autoresearch.playbook import Library
from autoresearch.playbook.library import BUILT_IN

GOOD = """\
schema: autoresearch/playbook/v1
id: mine
extends: base
title: Mine
question: Does it matter?
factors:
  - name: clip_range
    levels: [0.1, 0.2]
    control: 0.2
hypotheses:
  - arm: {clip_range: 0.1}
    direction: different
primary:
  metric: eval/acc
train:
  batch.epochs: 4
tuning:
  factor: learning_rate
  low: 3.0e-4
  high: 2.0e-3
tasks: [reverse]
"""


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library((("project", tmp_path), ("built-in", BUILT_IN)))


@pytest.mark.parametrize("path", sorted(BUILT_IN.glob("*.yaml")), ids=lambda path: path.stem)
def test_built_in_playbooks_have_no_problem(path: Path) -> None:
    assert lint(path, Library((("built-in", BUILT_IN),))) == []


def test_the_good_one_is_clean(tmp_path: Path, library: Library) -> None:
    (tmp_path / "mine.yaml").write_text(GOOD)
    assert lint(tmp_path / "mine.yaml", library) == []


@pytest.mark.parametrize(
    ("before", "after", "code", "line"),
    [
        ("[reverse]", "[reverse", "PB001", 22),
        ("question:", "qestion:", "PB002", 5),
        ("low: 3.0e-4", "low: 3.0", "PB004", 17),
        ("extends: base", "extends: bass", "PB005", 3),
        ("name: clip_range", "name: clip_rangs", "PB101", 7),
        ("metric: eval/acc", "metric: eval/accuracy", "PB102", 14),
        ("[reverse]", "[reverse, sorted]", "PB103", 21),
        ("batch.epochs", "batch.epoch", "PB105", 16),
        ("levels: [0.1, 0.2]", "levels: [0.1, 0.2, 7.0]", "PB106", 8),
        ("arm: {clip_range: 0.1}", "arm: {clip_range: 0.3}", "PB107", 11),
        ("arm: {clip_range: 0.1}", "arm: {kl_coef: 0.3}", "PB107", 11),
        ("batch.epochs: 4", "batch.epochs: ${passes}", "PB108", 16),
        ("factor: learning_rate", "factor: group_size", "PB109", 18),
        ("control: 0.2", "control: 0.3", "PB202", 9),
        ("metric: eval/acc", "metric: policy/ratio_max", "PB203", 13),
        ("tasks: [reverse]", "tasks: [reverse]\nprofiles: null", "PB204", 22),
        ("batch.epochs: 4", "batch.epochs: 4\n  batch.rollouts: 100", "PB209", 6),
    ],
)
def test_a_slip_has_a_code_and_a_line(
    tmp_path: Path, library: Library, before: str, after: str, code: str, line: int
) -> None:
    assert before in GOOD
    (tmp_path / "mine.yaml").write_text(GOOD.replace(before, after))
    found = lint(tmp_path / "mine.yaml", library)
    first = next(p for p in found if p.severity == "error")
    assert (first.code, first.line) == (code, line)


def test_a_profile_that_takes_longer_than_it_promises_is_warned_of(
    tmp_path: Path, library: Library
) -> None:
    text = GOOD + "profiles: {quick: {minutes: 1}}\n"
    (tmp_path / "mine.yaml").write_text(text)
    (problem,) = lint(tmp_path / "mine.yaml", library)
    assert (problem.code, problem.severity, problem.line) == ("PB303", "warning", 22)


def test_too_little_power_in_full_is_warned_of(tmp_path: Path, library: Library) -> None:
    text = GOOD.replace("metric: eval/acc", "metric: eval/acc\n  prior_sd: 0.2")
    (tmp_path / "mine.yaml").write_text(text)
    assert [(p.code, p.severity) for p in lint(tmp_path / "mine.yaml", library)] == [
        ("PB304", "warning")
    ]


DOCS = Path(__file__).parents[3] / "docs" / "playbooks.md"


def test_the_documented_example_is_clean(tmp_path: Path, library: Library) -> None:
    example = DOCS.read_text().split("```yaml\n")[1].split("```")[0]
    (tmp_path / "my-rank.yaml").write_text(example)
    assert lint(tmp_path / "my-rank.yaml", library) == []


def test_the_documented_codes_are_those_of_the_code() -> None:
    root = DOCS.parents[1] / "autoresearch"
    code = re.compile(r"PB\d{3}")
    used: set[str] = set()
    for package in ("planner", "playbook", "catalogue"):
        for path in (root / package).rglob("*.py"):
            used |= set(code.findall(path.read_text()))
    assert set(code.findall(DOCS.read_text())) == used
