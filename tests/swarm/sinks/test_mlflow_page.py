"""The page of MLflow 3 that shows training runs, and what the installed MLflow knows of it."""

import json
from collections.abc import Iterator
from pathlib import Path

import mlflow
import pytest

from swarm.sinks.mlflow_page import TRAINING_KIND, Column, runs_page, view_tags

COLUMNS = (Column("tags", "autoresearch.arm", 200), Column("metrics", "eval/acc", 90))


def test_a_page_names_the_kind_of_work_and_the_view_whose_columns_a_tag_keeps() -> None:
    ((tag, value),) = view_tags(COLUMNS).items()
    page = runs_page("http://127.0.0.1:5050", "7")
    view = tag.removeprefix("mlflow.sharedViewState.")
    assert page == (
        "http://127.0.0.1:5050/#/experiments/7/runs"
        f"?workflowType=machine_learning&viewStateShareKey={view}"
    )
    keys = ["tags.`autoresearch.arm`", "metrics.`eval/acc`"]
    assert json.loads(value) == {
        "selectedColumns": keys,
        "columnOrder": keys,
        "columnWidths": {keys[0]: 200, keys[1]: 90},
        "orderByKey": keys[0],
        "orderByAsc": True,
    }


def bundle() -> Iterator[str]:
    """The scripts of the installed MLflow's pages."""
    static = Path(mlflow.__file__).parent / "server" / "js" / "build" / "static" / "js"
    return (file.read_text(errors="replace") for file in static.glob("*.js"))


def test_the_installed_pages_know_every_name_that_is_used() -> None:
    """MLflow documents none of these: a new version that renames one fails here."""
    (kind,) = TRAINING_KIND.values()
    names = {"workflowType", "machine_learning", "viewStateShareKey", "mlflow.sharedViewState."}
    names |= {*TRAINING_KIND, kind, "selectedColumns", "columnOrder", "columnWidths"}
    names |= {"orderByKey", "orderByAsc"}
    missing = set(names)
    for script in bundle():
        missing -= {name for name in missing if name in script}
    if missing == names:
        pytest.skip("this MLflow has no pages")
    assert missing == set()
