"""The rows in flight: what is drawn for whom, and how gaps are closed."""

import numpy as np
import pytest

from swarm.engine.decode_rows import Rows
from swarm.records import Completion, SampleRequest, StopReason

STOP = 1
REQUESTS = [SampleRequest((3, 4, 5), (10, 11), 4), SampleRequest((6,), (12, 13), 2, 0.5)]
MEMBERS = [(0, 0), (0, 1), (1, 0), (1, 1)]


@pytest.fixture
def rows() -> Rows:
    rows = Rows(REQUESTS, frozenset({STOP}), size=6)
    rows.admit(MEMBERS, [4, 4, 2, 2])
    return rows


def drawn(rows: Rows, *tokens: int) -> None:
    """One token for every row in flight, its log-probability the token's negative tenth."""
    values = np.array(tokens)
    rows.record(slice(0, rows.count), values, (-values / 10).astype(np.float32))


def test_new_rows_know_their_prompt_and_temperature(rows: Rows) -> None:
    assert rows.count == 4
    assert rows.length[:4].tolist() == [3, 3, 1, 1]
    assert rows.temperature[:4].tolist() == [1.0, 1.0, 0.5, 0.5]


def test_draws_belong_to_the_seed_and_not_to_the_row(rows: Rows) -> None:
    other = Rows(REQUESTS, frozenset({STOP}), size=6)
    other.admit(MEMBERS[::-1], [2, 2, 4, 4])
    assert rows.uniforms(slice(0, 4)).tolist() == other.uniforms(slice(0, 4)).tolist()[::-1]
    assert len(set(rows.uniforms(slice(0, 4)).tolist())) == 4
    before = rows.uniforms(slice(0, 1))
    drawn(rows, 7, 7, 7, 7)
    assert rows.uniforms(slice(0, 1)) != before


def test_a_stop_token_ends_a_completion_and_a_limit_cuts_it(rows: Rows) -> None:
    results: list[dict[int, Completion]] = [{}, {}]
    drawn(rows, STOP, 7, 8, 9)
    rows.finish(results)
    assert results == [{0: Completion((STOP,), (np.float32(-0.1).item(),), StopReason.STOP)}, {}]
    drawn(rows, 2, 5, 6)  # rows of members (1, 1), (0, 1), (1, 0): the last took the gap
    assert rows.members == [(1, 1), (0, 1), (1, 0)]
    rows.finish(results)
    assert {m: (c.tokens, c.stop) for m, c in results[1].items()} == {
        0: ((8, 6), StopReason.LENGTH),
        1: ((9, 2), StopReason.LENGTH),
    }
    assert rows.members == [(0, 1)]


def test_a_gap_is_closed_by_the_last_rows(rows: Rows) -> None:
    drawn(rows, STOP, STOP, 8, 9)
    moves = rows.finish([{}, {}])
    assert dict(zip(moves.targets.tolist(), moves.sources.tolist(), strict=True)) == {0: 2, 1: 3}
    assert rows.members == [(1, 0), (1, 1)]
    assert rows.last[:2].tolist() == [8, 9]
    assert rows.length[:2].tolist() == [1, 1]


def test_nothing_moves_where_the_last_rows_end(rows: Rows) -> None:
    drawn(rows, 7, 8, 9, STOP)
    moves = rows.finish([{}, {}])
    assert (moves.sources.tolist(), moves.targets.tolist()) == ([], [])
    assert rows.members == MEMBERS[:3]


def test_a_place_that_is_taken_again_starts_anew(rows: Rows) -> None:
    drawn(rows, 7, 7, 7, STOP)
    rows.finish([{}, {}])
    rows.admit([(1, 1)], [2])
    fresh = Rows(REQUESTS, frozenset({STOP}), size=6)
    fresh.admit([(1, 1)], [2])
    assert rows.uniforms(slice(3, 4)) == fresh.uniforms(slice(0, 1))
