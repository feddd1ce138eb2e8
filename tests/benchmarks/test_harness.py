import json
import os
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.harness import (
    Sample,
    Worker,
    WorkerError,
    abba,
    abba_order,
    emit,
    ratio,
    record,
    show,
    summary,
    walls,
)

positive = st.floats(0.1, 10)


@pytest.fixture
def echo(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    with Worker("support.echo_worker") as worker:
        yield worker


def test_a_worker_answers_from_its_own_process(echo):
    first, second = echo.ask({"x": 1}), echo.ask({"x": [2]})
    assert (first["echo"], second["echo"]) == ({"x": 1}, {"x": [2]})
    assert first["pid"] == second["pid"] != os.getpid()


def test_a_workers_death_names_module_status_and_last_words(echo):
    with pytest.raises(WorkerError, match=r"echo_worker ended with status 3(?s:.*)about to leave"):
        echo.ask({"do": "die"})
    with pytest.raises(WorkerError, match="status 3"):
        echo.ask({})


def test_a_failed_request_is_an_error_and_the_worker_stays(echo):
    with pytest.raises(WorkerError, match="ValueError: a bad request"):
        echo.ask({"do": "raise"})
    assert echo.ask({"x": 1})["echo"] == {"x": 1}


def test_waiting_is_bounded(echo):
    with pytest.raises(WorkerError, match=r"did not answer within 0\.2 s"):
        echo.ask({"do": "hang"}, timeout_s=0.2)
    echo._process.kill()


def test_rounds_run_forward_then_backward():
    order = [name for _, name in abba_order(["a", "b"], 4)]
    assert order == ["a", "b", "b", "a", "a", "b", "b", "a"]


def test_abba_drops_warm_ups_and_numbers_steps(echo):
    samples = abba({"a": echo, "b": echo}, "tiny", {}, rounds=2, warmup=1)
    assert [(s.variant, s.round, s.order) for s in samples] == [
        ("b", 1, 2),
        ("a", 1, 3),
        ("a", 2, 4),
        ("b", 2, 5),
    ]
    assert all(s.case == "tiny" and s.peak_rss_mb > 1 for s in samples)


def test_median_and_quartiles():
    found = summary([4.0, 1.0, 2.0, 3.0, 100.0])
    assert (found.median, found.iqr, found.count) == (3.0, 2.0, 5)
    with pytest.raises(ValueError, match="no samples"):
        summary([])


@given(st.lists(positive, min_size=1, max_size=9), positive)
def test_a_common_factor_is_the_ratio_and_its_interval(times, factor):
    """Drift that both variants of a round share leaves no uncertainty in their ratio."""
    found = ratio([factor * t for t in times], times)
    assert [found.value, found.low, found.high] == pytest.approx([factor] * 3)


def test_the_interval_holds_the_ratio_and_is_reproducible():
    slow, fast = [2.0, 2.4, 2.2, 1.9, 2.6], [1.0, 1.1, 0.9, 1.2, 1.0]
    found = ratio(slow, fast)
    assert found.value == pytest.approx(2.2)
    assert found.low < found.value < found.high
    assert found == ratio(slow, fast)
    with pytest.raises(ValueError, match="same rounds"):
        ratio(slow, fast[1:])


def test_raw_samples_are_written_one_a_line(tmp_path, capsys):
    samples = [Sample("ours", "p200", r, 9 - r, float(r), 1.0, 5.0, 0.1) for r in (1, 0)]
    lines = record("trial", samples, tmp_path / "new").read_text().splitlines()
    assert [json.loads(line)["round"] for line in lines] == [1, 0]
    assert walls(samples, "ours", "p200") == [0.0, 1.0]
    show(samples)
    assert "p200" in capsys.readouterr().out


def test_the_last_line_is_one_json_object(capsys):
    emit({"ratio": 2.5})
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last["ratio"] == 2.5
    assert {"cpu", "cores", "torch", "trl"} <= last["machine"].keys()
