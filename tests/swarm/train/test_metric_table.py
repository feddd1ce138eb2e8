"""One table says of every logged metric what it means and in which unit."""

import pytest
from support.tiny_runs import small

from swarm.disk.folder import METRICS, read_rows
from swarm.train.loop import train
from swarm.train.metric_table import LOGGED

#: Runs that together log all there is: each reports what the others do not.
RUNS = {
    "resampled": small(data__group_filter="resample"),
    "value head": small(algorithm__name="ppo"),
    "pairs": small(algorithm__name="dpo"),
    "sequences": small(algorithm__name="gspo"),
    "demonstrations": small(algorithm__name="sft"),
}


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """The metrics of a run of one step, by run."""
    found = {}
    for name, config in RUNS.items():
        folder = tmp_path_factory.mktemp("runs") / "run"
        train(config.with_values({"steps": 1}), folder)
        found[name] = {key for row in read_rows(folder / METRICS) for key in row["metrics"]}
    return found


def test_it_holds_what_runs_log_and_nothing_else(logged: dict[str, set[str]]) -> None:
    assert set.union(*logged.values()) == LOGGED.keys()


def test_a_run_logs_what_its_loss_reports(logged: dict[str, set[str]]) -> None:
    ratios = {name for name in LOGGED if name.startswith(("mismatch/", "policy/clip", "loss/kl"))}
    assert ratios <= logged["sequences"]
    ratios.discard("mismatch/sequence_log_ratio_rms")
    assert ratios <= logged["resampled"] & logged["value head"]
    assert not ratios & (logged["pairs"] | logged["demonstrations"])
    assert [run for run in logged if "loss/value" in logged[run]] == ["value head"]
    assert [run for run in logged if "dpo/acc" in logged[run]] == ["pairs"]


def test_every_line_says_what_it_means() -> None:
    assert all(line.meaning and line.unit for line in LOGGED.values())
    assert not [line.name for line in LOGGED.values() if line.sum_of and line.max_of]
