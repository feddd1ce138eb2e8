"""What is asked, as a record."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from autoresearch.study.intent import AskedFactor, Intent, Repair

RANK = AskedFactor(name="lora_rank", levels=(2, 8))
KL = AskedFactor(name="kl_coef", levels=(0.0, 0.1), control=0.0, direction="less")
ASKED = Intent(topic="x", playbook="factor-sweep", factors=(RANK, KL))


def test_it_goes_through_json_unchanged() -> None:
    assert Intent.model_validate(ASKED.model_dump(mode="json")) == ASKED
    assert Intent.model_validate_json(ASKED.model_dump_json()) == ASKED


def test_an_unknown_field_is_an_error() -> None:
    with pytest.raises(ValidationError, match="levles"):
        AskedFactor.model_validate({"name": "lora_rank", "levles": [2, 8]})
    with pytest.raises(ValidationError, match="frozen"):
        ASKED.topic = "y"  # type: ignore[misc]


def test_a_repair_replaces_the_factor_it_is_about_and_is_kept() -> None:
    nearest = RANK.model_copy(update={"levels": (2, 512)})
    repair = Repair(name="take the nearest level", about="lora_rank", note="n", factor=nearest)
    repaired = ASKED.repaired(repair)
    assert repaired.factors == (nearest, KL)
    assert repaired.repair("take the nearest level", "lora_rank") == repair
    assert repaired.repair("take the nearest level", "kl_coef") is None
    assert repaired.factor("lora_rank") == nearest
    assert ASKED.factor("lora_rank") == RANK
    assert ASKED.factor("group_size") is None


@given(st.lists(st.sampled_from(["a", "b", "c"]), max_size=5))
def test_repairs_stay_in_the_order_they_were_made(about: list[str]) -> None:
    intent = ASKED
    for name in about:
        intent = intent.repaired(Repair(name="add a requirement", about=name, note=name))
    assert [repair.about for repair in intent.repairs] == about
    assert intent.factors == ASKED.factors
