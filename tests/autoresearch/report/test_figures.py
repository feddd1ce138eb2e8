"""Figures: their size, their data, their pixels."""

from pathlib import Path

from PIL import Image
from support.synthetic_study import BATCH, CONTROL, SMALL, TREATMENT, Shape, make_study

from autoresearch.report import build
from autoresearch.report.figure_data import parse
from autoresearch.study.home import Home


def test_figures_are_legible_in_size_and_hold_every_seed(tmp_path: Path) -> None:
    home = Home(tmp_path)
    shape = Shape(
        failed=(),
        levels=("group", "none", "batch"),
        gains={CONTROL: 0.3, TREATMENT: 0.3, BATCH: 0.3},
        tasks=("reverse", "sort"),
        diverged=(("confirm", CONTROL, 7202),),
        length_hypothesis=True,
    )
    folder = build(make_study(home, shape), home)
    for image in (folder / "figures").glob("*.png"):
        width, height = Image.open(image).size
        assert width == 1280
        assert 200 < height < 2400
    scores = parse((folder / "figures" / "scores.csv").read_text())
    seeds = [row for row in scores if row["status"] != "mean"]
    assert len(seeds) == 2 * 2 * 3 * 5  # metrics, tasks, arms, seeds
    assert sum(row["status"] == "diverged" for row in seeds) == 4
    curves = parse((folder / "figures" / "curves.csv").read_text())
    floored = [row for row in curves if not row["wall"]]
    assert {(row["arm"], row["seed"], row["value"]) for row in floored} == {(CONTROL, "7202", "0")}


def test_the_same_facts_draw_the_same_pixels(tmp_path: Path) -> None:
    home = Home(tmp_path)
    facts = make_study(home, SMALL)
    images = [
        {p.name: p.read_bytes() for p in (build(facts, home) / "figures").glob("*.png")}
        for _ in range(2)
    ]
    assert images[0] == images[1]
