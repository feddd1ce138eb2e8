"""English topics are told from others by scripts and function words."""

import pytest
from support.plans import intent_for

from autoresearch.topic.language import in_english, is_english
from swarm.errors import Refusal


@pytest.mark.parametrize(
    ("topic", "form"),
    [
        ("Hilft eine größere Gruppe bei GRPO?", "in GRPO"),
        ("GRPO oder RLOO?", "'GRPO vs RLOO'"),
        ("vergleiche GRPO und RLOO", "'GRPO vs RLOO'"),
        ("Welche lr ist besser, 1e-4 oder 1e-3?", "'lr 1e-4 vs 1e-3'"),
        ("est-ce que le KL aide GRPO ?", "does kl matter in GRPO?"),
        ("GRPO contre RLOO sur sort", "'GRPO vs RLOO'"),
        ("¿Qué tasa de aprendizaje es mejor, 1e-4 o 1e-3?", "1e-4 vs 1e-3"),
        ("confronta GRPO con RLOO", "'GRPO vs RLOO'"),
        ("qual é melhor, GRPO ou RLOO", "'GRPO vs RLOO'"),
        ("porównaj GRPO i RLOO", "'GRPO vs RLOO'"),
        ("GRPO so với RLOO", "'GRPO vs RLOO'"),
        ("组大小 4 和 16 哪个更好", "4 vs 16"),
        ("グループサイズ 4 vs 16", "4 vs 16"),
        ("какой lr лучше 1e-4 или 1e-3", "'lr 1e-4 vs 1e-3'"),
        ("그룹 크기 4 대 16", "4 vs 16"),
        ("هل يساعد GRPO", "in GRPO"),
    ],
)
def test_another_language_is_refused_with_what_of_it_can_be_read(topic: str, form: str) -> None:
    assert not is_english(topic)
    assert form in in_english(topic)
    with pytest.raises(Refusal, match="not in English"):
        intent_for(topic)


@pytest.mark.parametrize(
    "topic",
    [
        "does β=0.04 beat β=0?",
        "μ=1 vs μ=4 and ε=0.2",
        "Schulman's k3 vs k2 in GRPO",
        "does Müller et al.'s baseline matter for GRPO?",
        "de facto KL 0 vs 0.1",
        "num_generations=8 vs 16",
        "naïve baseline vs group baseline",
        "GRPO",
        "rank 1, 8 and 64",
        "lr per layer",
        "",
    ],
)
def test_greek_names_and_code_stay_english(topic: str) -> None:
    assert is_english(topic)
