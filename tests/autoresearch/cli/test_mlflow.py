"""`autoresearch mlflow`: what MLflow lost of a study is there again."""

import json

from mlflow.tracking import MlflowClient
from support.commands import Run
from support.synthetic_study import STUDY, enter_in_ledger, make_study

from autoresearch.study.home import Home


def test_curves_that_were_lost_are_written_again(run: Run, home: Home) -> None:
    enter_in_ledger(make_study(home), home)
    said = run("mlflow", STUDY, "--json")
    assert (said.code, said.err) == (0, "")
    attempts = json.loads(said.out)["attempts"]
    client = MlflowClient(home.mlflow_uri)
    experiment = client.get_experiment_by_name(STUDY)
    assert experiment is not None

    def curves() -> list[tuple[str, int]]:
        """Each child run's arm, and how many evaluations it has."""
        runs = client.search_runs([experiment.experiment_id])  # type: ignore[union-attr]
        children = [r for r in runs if "autoresearch.trial" in r.data.tags]
        return sorted(
            (
                r.data.tags["autoresearch.arm"],
                len(client.get_metric_history(r.info.run_id, "eval/acc")),
            )
            for r in children
        )

    first = curves()
    assert len(first) == attempts > 0
    assert all(count for _, count in first)
    assert run("mlflow", STUDY).code == 0
    assert curves() == first


def test_an_unknown_study_is_refused(run: Run) -> None:
    assert run("mlflow", "nothing").code == 2
