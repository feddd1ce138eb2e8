"""A study's trials as one CSV, for pandas or a spreadsheet."""

import csv
import io

from autoresearch.analysis.evidence import Evidence
from autoresearch.analysis.scores import metrics_of
from autoresearch.study.facts import StudyFacts

COLUMNS = ("trial", "phase", "round", "arm", "task", "seed", "label")


def trials_csv(facts: StudyFacts) -> str:
    """A row a trial: what it is, how it ended, what it cost, its scores, its folder.

    A column `score:METRIC` per hypothesis' metric, empty where the trial has no score. Raises
    ValueError for a study without a plan.
    """
    evidence = Evidence(facts)
    metrics = metrics_of(evidence.plan)
    values = {
        (score.trial, metric): score.value
        for phase in ("pilot", "tuning", "confirm")
        for metric in metrics
        for score in evidence.scores(phase, metric)
    }
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    scores = [f"score:{metric}" for metric in metrics]
    writer.writerow((*COLUMNS, "status", "cause", "attempts", "seconds", *scores, "folder"))
    for trial in facts.trials:
        spec = trial.spec
        writer.writerow(
            (
                spec.id,
                *(getattr(spec, name) for name in COLUMNS[1:]),
                trial.status,
                trial.cause,
                len(trial.attempts),
                sum(attempt.seconds for attempt in trial.attempts),
                *(values.get((spec.id, metric)) for metric in metrics),
                trial.folder,
            )
        )
    return out.getvalue()
