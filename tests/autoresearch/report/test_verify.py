"""Whatever is edited after the fact is found and named."""

import random
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.synthetic_study import CONTROL, SMALL, STUDY, Shape, make_study

from autoresearch.report import build, verify
from autoresearch.report.build import CLAIMS, PREREGISTRATION, REPORT
from autoresearch.study.facts import StudyFacts
from autoresearch.study.home import Home


@dataclass(frozen=True, repr=False)
class Built:
    """A study with its report."""

    home: Home
    facts: StudyFacts
    report: Path

    def problems(self) -> list[str]:
        return verify(self.facts, self.home)

    def run_folder(self, index: int = 0) -> Path:
        folder = self.facts.of_phase("confirm")[index].folder
        assert folder is not None
        return folder

    def files(self) -> list[Path]:
        """All text that a report rests on or consists of, but for other attempts."""
        runs = [t.folder for t in self.facts.trials if t.folder is not None]
        names = ("metrics.jsonl", "rollouts.jsonl", "events.jsonl", "result.json", "manifest.json")
        found = [run / name for run in runs for name in (*names, "config.yaml")]
        return [
            *found,
            *(p for p in self.report.rglob("*") if p.suffix in (".md", ".json", ".csv")),
        ]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    home = Home(tmp_path_factory.mktemp("verify"))
    facts = make_study(home, SMALL)
    return Built(home, facts, build(facts, home))


@contextmanager
def edited(path: Path, text: str) -> Iterator[None]:
    """The file with another text, for a while."""
    before = path.read_bytes()
    assert text.encode() != before
    path.write_text(text, encoding="utf-8")
    try:
        yield
    finally:
        path.write_bytes(before)


def bumped(text: str, position: int) -> str:
    """The text with the digit at a position replaced by the next one."""
    return f"{text[:position]}{(int(text[position]) + 1) % 10}{text[position + 1 :]}"


def digits(text: str) -> list[int]:
    return [match.start() for match in re.finditer(r"[0-9]", text)]


def test_a_fresh_report_is_verified(built: Built) -> None:
    assert built.problems() == []


def test_a_larger_study_is_verified(tmp_path: Path) -> None:
    home = Home(tmp_path)
    facts = make_study(home, Shape(tasks=("reverse", "sort"), length_hypothesis=True))
    build(facts, home)
    assert verify(facts, home) == []


@pytest.mark.parametrize("share", [0.0, 0.2, 0.4, 0.6, 0.8, 0.999])
def test_a_digit_edited_in_the_text_is_named_by_its_line(share: float, built: Built) -> None:
    text = (built.report / REPORT).read_text()
    places = digits(text)
    position = places[int(share * len(places))]
    line = text[:position].count("\n") + 1
    with edited(built.report / REPORT, bumped(text, position)):
        problems = built.problems()
    assert len(problems) == 1
    assert problems[0].startswith(f"report.md line {line}: ")


@pytest.mark.parametrize(
    "claim",
    [
        "H1.effect",
        f"arm.eval/acc.{CONTROL}.mean",
        f"score.eval/acc.{CONTROL}.reverse.7200",
        "pilot.sd",
        "rule.alpha",
        "cost.all.seconds",
        "setting.steps",
    ],
)
def test_a_value_edited_in_the_claims_is_named_by_its_claim(claim: str, built: Built) -> None:
    text = (built.report / CLAIMS).read_text()
    start = text.index('"value": ', text.index(f'"id": "{claim}"'))
    with edited(built.report / CLAIMS, bumped(text, digits(text[start:])[0] + start)):
        problems = built.problems()
    assert len(problems) == 1
    assert f"claim {claim}: " in problems[0]


def test_a_verdict_edited_in_the_claims_is_named(built: Built) -> None:
    text = (built.report / CLAIMS).read_text()
    flipped = text.replace('"verdict": "inconclusive"', '"verdict": "supported"', 1)
    with edited(built.report / CLAIMS, flipped):
        assert "verdict of H1" in built.problems()[0]


@pytest.mark.parametrize(
    ("name", "record"),
    [("metrics.jsonl", 1), ("metrics.jsonl", 31), ("metrics.jsonl", 61), ("rollouts.jsonl", 1)],
)
@pytest.mark.parametrize("run", [0, 3])
def test_a_record_edited_in_a_run_is_named(name: str, record: int, run: int, built: Built) -> None:
    path = built.run_folder(run) / name
    lines = path.read_text().splitlines(keepends=True)
    lines[record - 1] = bumped(lines[record - 1], digits(lines[record - 1])[-1])
    trial = built.facts.of_phase("confirm")[run].spec.id
    with edited(path, "".join(lines)):
        problems = built.problems()
    assert problems[0] == f"run {trial}/1: {name} record {record}: changed"


def test_a_run_sealed_again_is_not_the_one_that_the_ledger_knows(built: Built) -> None:
    path = built.run_folder() / "manifest.json"
    with edited(path, path.read_text() + "\n"):
        assert "not the one that the ledger knows" in built.problems()[0]


def test_a_report_written_from_tampered_runs_is_still_found(tmp_path: Path) -> None:
    home = Home(tmp_path)
    facts = make_study(home, SMALL)
    folder = facts.of_phase("confirm")[0].folder
    assert folder is not None
    metrics = folder / "metrics.jsonl"
    metrics.write_text(metrics.read_text().replace('"eval/acc": 0.', '"eval/acc": 1.'))
    build(facts, home)
    assert any("metrics.jsonl record 1: changed" in problem for problem in verify(facts, home))
    assert "**H1: invalid.**" in (home.report(STUDY) / REPORT).read_text()


def test_another_plan_is_named(built: Built) -> None:
    assert built.facts.plan is not None
    plan = built.facts.plan.model_copy(update={"notes": ("added later",)})
    problems = verify(replace(built.facts, plan=plan), built.home)
    assert problems[0].startswith("plan: its sha256 is ")
    assert any(problem.startswith(f"{PREREGISTRATION} line 1") for problem in problems)


def test_a_plan_registered_after_the_fact_is_named(built: Built) -> None:
    late = replace(built.facts, registered_at=built.facts.created_at + 3600)
    assert "plan: registered after its first trial had started" in verify(late, built.home)


def test_a_trial_made_for_another_plan_is_named(built: Built) -> None:
    *others, last = built.facts.trials
    spec = last.spec.model_copy(update={"registration": "f" * 64})
    problems = verify(replace(built.facts, trials=(*others, replace(last, spec=spec))), built.home)
    assert any("it was made for plan ffff" in problem for problem in problems)


def test_a_tuned_value_that_the_runs_do_not_choose_is_named(built: Built) -> None:
    records = {**built.facts.records, "tuning": {"path": "optim.lr", "value": 0.0004}}
    problems = verify(replace(built.facts, records=records), built.home)
    assert problems == ["record tuning: 0.0004, but the tuning runs choose 0.001"]


def test_missing_files_are_named(built: Built, tmp_path: Path) -> None:
    for name in (REPORT, CLAIMS, "figures/scores.csv", "figures/scores.png"):
        path = built.report / name
        shutil.move(path, tmp_path / "aside")
        try:
            assert built.problems() == [f"{name}: missing"]
        finally:
            shutil.move(tmp_path / "aside", path)
    nowhere = Home(tmp_path / "elsewhere")
    assert "there is no report" in verify(built.facts, nowhere)[0]


def test_a_line_added_or_cut_is_named(built: Built) -> None:
    text = (built.report / REPORT).read_text()
    count = text.count("\n")
    with edited(built.report / REPORT, text + "And it works everywhere.\n"):
        assert built.problems()[0].startswith(f"report.md line {count + 1}: ")
    with edited(built.report / REPORT, text[: text.rindex("\n", 0, -1)]):
        assert built.problems()[0].startswith("report.md line ")


def test_bytes_that_are_no_text_are_named(built: Built) -> None:
    path = built.report / REPORT
    before = path.read_bytes()
    path.write_bytes(before.replace(b"Abstract", b"Abstr\xffct"))
    try:
        assert built.problems()[0].startswith("report.md line ")
    finally:
        path.write_bytes(before)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32))
def test_one_digit_flipped_anywhere_is_found(seed: int, built: Built) -> None:
    rng = random.Random(seed)
    path = rng.choice([p for p in built.files() if digits(p.read_text(encoding="utf-8"))])
    text = path.read_text(encoding="utf-8")
    with edited(path, bumped(text, rng.choice(digits(text)))):
        problems = built.problems()
    where = path.relative_to(built.report).as_posix() if built.report in path.parents else path.name
    assert any(where in problem for problem in problems)
