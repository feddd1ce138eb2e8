"""The numbers behind the figures are those of the claims and of the runs."""

from pathlib import Path

import pytest
from support.synthetic_study import CONTROL, TREATMENT, Shape, compute, make_study

from autoresearch.analysis.claims import ClaimSet
from autoresearch.analysis.evidence import Evidence
from autoresearch.report.figure_data import COLUMNS, parse, tables
from autoresearch.study.home import Home
from swarm.disk.folder import read_series

LATE = ("confirm", CONTROL, 7202)


def made(folder: Path, shape: Shape) -> tuple[Evidence, ClaimSet, dict[str, list[dict[str, str]]]]:
    facts = make_study(Home(folder), shape)
    evidence, claims = Evidence(facts), compute(facts)
    return evidence, claims, {name: parse(t) for name, t in tables(evidence, claims).items()}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory):
    return made(tmp_path_factory.mktemp("figures"), Shape(failed=(), diverged=(LATE,)))


def test_columns_are_the_documented_ones(found) -> None:
    _, _, data = found
    assert {name: ",".join(rows[0]) for name, rows in data.items()} == COLUMNS


def test_a_mean_carries_the_interval_of_its_claim(found) -> None:
    _, claims, data = found
    (row,) = [r for r in data["scores"] if r["status"] == "mean" and r["arm"] == TREATMENT]
    claim = claims.by_id()[f"arm.eval/acc.{TREATMENT}.mean"]
    assert float(row["value"]) == pytest.approx(claim.value)
    assert (float(row["low"]), float(row["high"])) == pytest.approx(claim.interval)
    assert (row["n"], row["seed"]) == ("5", "")


def test_an_effect_is_that_of_its_verdict(found) -> None:
    _, claims, data = found
    (row,), (verdict,) = data["effects"], claims.verdicts
    assert (row["hypothesis"], row["verdict"]) == ("H1", verdict.verdict)
    assert [float(row[name]) for name in ("effect", "low", "high")] == pytest.approx(
        [verdict.effect, verdict.low, verdict.high]
    )


def test_a_curve_is_the_runs_series_and_the_floor_after_a_divergence(found) -> None:
    evidence, _, data = found
    for trial in evidence.trials("confirm"):
        rows = [
            row
            for row in data["curves"]
            if (row["arm"], row["seed"]) == (trial.spec.arm, str(trial.spec.seed))
        ]
        measured = {int(r["step"]): float(r["value"]) for r in rows if r["wall"]}
        assert measured == pytest.approx(
            {step: value for step, _, value in read_series(trial.folder, "eval/acc")}
        )
        floored = [(int(r["step"]), r["value"]) for r in rows if not r["wall"]]
        diverged = (trial.spec.phase, trial.spec.arm, trial.spec.seed) == LATE
        assert floored == ([(step, "0") for step in (40, 50, 60)] if diverged else [])


def test_dynamics_are_means_over_runs_that_finished(found) -> None:
    _, _, data = found
    rows = [r for r in data["dynamics"] if r["metric"] == "policy/entropy" and r["step"] == "10"]
    assert {row["arm"]: row["n"] for row in rows} == {CONTROL: "4", TREATMENT: "5"}


def test_a_figure_without_data_is_left_out(tmp_path: Path) -> None:
    everything = tuple(
        ("confirm", arm, seed) for arm in (CONTROL, TREATMENT) for seed in range(7200, 7205)
    )
    _, _, data = made(tmp_path, Shape(failed=everything))
    assert data.keys() == set()
