from pathlib import Path

from support.synthetic_study import CONTROL, TREATMENT, Shape, claims_of

from autoresearch.report import Change, diff


def test_a_study_does_not_differ_from_itself(tmp_path: Path) -> None:
    claims = claims_of(tmp_path, Shape(failed=()))
    assert diff(claims, claims) == []


def test_a_flipped_verdict_comes_first_and_moved_claims_follow(tmp_path: Path) -> None:
    a = claims_of(tmp_path / "a", Shape(failed=()))
    b = claims_of(tmp_path / "b", Shape(failed=(), gains={CONTROL: 0.42, TREATMENT: 0.30}))
    found = diff(a, b)
    assert found[0] == Change("flipped", "H1.verdict", "supported", "refuted")
    moved = {change.claim for change in found if change.kind == "moved"}
    assert moved == {
        "H1.effect",
        f"arm.eval/acc.{CONTROL}.mean",
        f"arm.eval/acc.{TREATMENT}.mean",
    }
    assert str(found[1]).startswith("moved: H1.effect from +0.1")


def test_noise_within_the_interval_is_no_change(tmp_path: Path) -> None:
    a = claims_of(tmp_path / "a", Shape(failed=()))
    b = claims_of(tmp_path / "b", Shape(failed=(), gains={CONTROL: 0.301, TREATMENT: 0.421}))
    assert diff(a, b) == []


def test_claims_added_and_lost_are_told(tmp_path: Path) -> None:
    a = claims_of(tmp_path / "a", Shape(failed=()))
    b = claims_of(tmp_path / "b", Shape(failed=(), length_hypothesis=True))
    added = [change.claim for change in diff(a, b) if change.kind == "added"]
    assert "H2.verdict" in added
    assert added == [change.claim for change in diff(b, a) if change.kind == "lost"]


def test_changed_rules_and_settings_are_told(tmp_path: Path) -> None:
    a = claims_of(tmp_path / "a", Shape(failed=()))
    rows = [
        claim.model_copy(update={"value": 120}) if claim.id == "setting.steps" else claim
        for claim in a.claims
    ]
    b = a.model_copy(update={"claims": tuple(rows)})
    assert diff(a, b) == [Change("changed", "setting.steps", "`60`", "`120`")]
