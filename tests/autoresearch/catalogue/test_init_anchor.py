"""The factor `correction` sets no more of an algorithm than its level needs."""

import pytest
from pydantic import ValidationError

from autoresearch.catalogue import factor
from swarm.config.train import TrainConfig

CORRECTION = factor("correction")
GSPO = TrainConfig().with_values({"algorithm.name": "gspo"})


@pytest.mark.parametrize("level", ["none", "tis", "icepop", "token_mask", "sequence_mask"])
def test_gspo_keeps_its_anchor(level: str) -> None:
    assert GSPO.with_values(CORRECTION.assign(level)).algorithm.anchor == "batch_start"


def test_what_gspo_cannot_be_is_refused_by_name() -> None:
    with pytest.raises(ValidationError, match="'batch_start' leaves the gap to the sampler"):
        GSPO.with_values(CORRECTION.assign("none") | {"max_staleness": 4})
    with pytest.raises(ValidationError, match=r"'dppo' .* set algorithm\.anchor"):
        GSPO.with_values(CORRECTION.assign("dppo"))


@pytest.mark.parametrize("level", CORRECTION.choices)
def test_every_level_can_be_had_under_the_default(level: str) -> None:
    stale = CORRECTION.assign(level) | {"max_staleness": 4}
    assert TrainConfig().with_values(stale).algorithm.correction.kind == level
