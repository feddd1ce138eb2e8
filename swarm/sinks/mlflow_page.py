"""Which page MLflow 3 opens on an experiment, and with which columns. MLflow asks for the kind of
work in the URL (`workflowType`), and takes the columns of the table of runs from a tag of the
experiment that the URL names (`viewStateShareKey`)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import urlencode

#: Tells MLflow that an experiment holds training runs and no traces of a language model.
TRAINING_KIND: Mapping[str, str] = MappingProxyType(
    {"mlflow.experimentKind": "custom_model_development"}
)
_VIEW = "training"
_VIEW_TAG = f"mlflow.sharedViewState.{_VIEW}"


@dataclass(frozen=True)
class Column:
    """A column of MLflow's table of runs: a tag or a metric of a run."""

    kind: str  # "tags" or "metrics"
    name: str
    pixels: int

    @property
    def key(self) -> str:
        """MLflow's own name for the column."""
        return f"{self.kind}.`{metric_name(self.name) if self.kind == 'metrics' else self.name}`"


def metric_name(name: str) -> str:
    """What MLflow calls a metric of a run folder: its names hold no `@`, so that `eval/test/pass@4`
    is `eval/test/pass_at_4`."""
    return name.replace("@", "_at_")


def view_tags(columns: Sequence[Column]) -> dict[str, str]:
    """Tags of an experiment that keep these columns, with the runs sorted by the first of them."""
    keys = [column.key for column in columns]
    view = {
        "selectedColumns": keys,
        "columnOrder": keys,
        "columnWidths": {column.key: column.pixels for column in columns},
        "orderByKey": keys[0],
        "orderByAsc": True,
    }
    return {_VIEW_TAG: json.dumps(view)}


def runs_page(server: str, experiment: str) -> str:
    """The URL of an experiment's table of runs, with the columns of its `view_tags`."""
    asked = urlencode({"workflowType": "machine_learning", "viewStateShareKey": _VIEW})
    return f"{server}/#/experiments/{experiment}/runs?{asked}"
