"""Every factor of the catalogue acts in the trainer: two steps at two of its levels, one seed."""

from collections.abc import Callable
from pathlib import Path

import pytest
from support.contrasts import Contrast, contrast, nulls
from support.tiny_runs import rows, same_weights

from autoresearch.catalogue import FACTORS
from swarm.config.paths import leaves
from swarm.config.train import TrainConfig
from swarm.train.loop import train

pytestmark = pytest.mark.usefixtures("tiny_model")

Trained = Callable[[TrainConfig], Path]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """The run folder of a config; many factors share their control, which is run once."""
    folder = tmp_path_factory.mktemp("factors")

    def run(config: TrainConfig) -> Path:
        target = folder / config.digest()
        if not target.exists():
            assert train(config, target).status == "finished"
        return target

    return run


def first_difference(a: Path, b: Path) -> int | None:
    """The first step whose metrics differ."""
    pairs = zip(rows(a), rows(b), strict=True)
    return next((x["step"] for x, y in pairs if repr(x) != repr(y)), None)


@pytest.mark.parametrize("name", [n for n in FACTORS if not contrast(n).exact_null])
def test_two_levels_train_apart(name: str, trained: Trained) -> None:
    pair = contrast(name)
    a, b = trained(pair.a), trained(pair.b)
    assert not same_weights(a, b)
    assert first_difference(a, b) is not None


def null_cases() -> list[tuple[str, Contrast]]:
    """The documented nulls, and the factors that set nothing."""
    cases = [(name, pair) for name in FACTORS for pair in nulls(name)]
    return cases + [(n, contrast(n)) for n in FACTORS if contrast(n).exact_null]


@pytest.mark.parametrize(
    ("name", "pair"), null_cases(), ids=lambda x: x if isinstance(x, str) else ""
)
def test_a_documented_null_trains_to_equal_weights(
    name: str, pair: Contrast, trained: Trained, tmp_path: Path
) -> None:
    """To the bit, the metrics too. A null between equal configs is run twice all the same."""
    a = trained(pair.a)
    if pair.a == pair.b:
        train(pair.b, tmp_path / "again")
        b = tmp_path / "again"
    else:
        b = trained(pair.b)
    assert same_weights(a, b)
    assert first_difference(a, b) is None


def test_the_contrasts_differ_in_nothing_but_the_factor() -> None:
    for name in FACTORS:
        pair = contrast(name)
        a, b = (dict(leaves(config.model_dump(mode="json"))) for config in (pair.a, pair.b))
        changed = {path for path in a.keys() | b.keys() if a.get(path) != b.get(path)}
        assert bool(changed) != pair.exact_null
        allowed = FACTORS[name].paths
        assert all(path in allowed or "algorithm.name" in allowed for path in changed)
