"""The folder of a report: whole, linked, replaced at once."""

import hashlib
import importlib
import re
from pathlib import Path

import pytest
from support.synthetic_study import SMALL, Shape, make_study

from autoresearch.report import build, verify
from autoresearch.study.home import Home


def test_the_folder_holds_the_report_and_its_data(tmp_path: Path) -> None:
    home = Home(tmp_path)
    folder = build(make_study(home, Shape(failed=())), home)
    names = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
    figures = [f"figures/{n}" for n in ("curves", "dynamics", "effects", "scores")]
    assert names == sorted(
        ["claims.json", "preregistration.json", "report.md"]
        + [f"{name}.{kind}" for name in figures for kind in ("csv", "png")]
    )
    assert folder == home.reports / "adv-std-7c1e"
    assert [p.name for p in home.reports.iterdir()] == ["adv-std-7c1e"]


def test_every_link_of_the_text_leads_somewhere(tmp_path: Path) -> None:
    home = Home(tmp_path)
    folder = build(make_study(home, Shape(failed=())), home)
    links = re.findall(r"\]\(([^)]+)\)", (folder / "report.md").read_text())
    assert len(links) >= 12
    for link in links:
        # The synthetic runs save no adapter; their folders are there.
        assert (folder / link.removesuffix("/adapter")).exists(), link


def test_the_registration_is_what_sha256sum_prints(tmp_path: Path) -> None:
    home = Home(tmp_path)
    facts = make_study(home, SMALL)
    data = (build(facts, home) / "preregistration.json").read_bytes()
    assert hashlib.sha256(data).hexdigest() == facts.registration


def test_building_again_replaces_the_whole_report(tmp_path: Path) -> None:
    home = Home(tmp_path)
    facts = make_study(home, SMALL)
    folder = build(facts, home)
    first = (folder / "report.md").read_bytes()
    (folder / "figures" / "stale.png").write_bytes(b"")
    (folder / "report.md").write_text("edited")
    assert (build(facts, home) / "report.md").read_bytes() == first
    assert not (folder / "figures" / "stale.png").exists()
    assert verify(facts, home) == []


def test_a_build_that_fails_leaves_the_earlier_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Home(tmp_path)
    facts = make_study(home, SMALL)
    folder = build(facts, home)

    def no_space(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(importlib.import_module("autoresearch.report.build"), "draw", no_space)
    with pytest.raises(OSError, match="no space"):
        build(facts, home)
    assert verify(facts, home) == []
    assert [p.name for p in home.reports.iterdir()] == [folder.name]
