"""The factor catalogue: complete entries, unambiguous names, contrasts that differ."""

import pytest
from support.contrasts import contrast, nulls

from autoresearch import catalogue
from autoresearch.catalogue import FACTORS, CatalogueFactor
from autoresearch.catalogue.factor import phrases
from autoresearch.study.metrics import METRICS
from autoresearch.topic.words import words
from swarm.config.checked import known_paths
from swarm.config.paths import flat
from swarm.errors import Refusal

ALL = pytest.mark.parametrize("factor", FACTORS.values(), ids=FACTORS)


def test_holds_the_factors_that_studies_ask_for() -> None:
    asked = {
        "learning_rate", "group_size", "kl_coef", "advantage_std", "baseline", "algorithm",
        "clip_range", "clip_higher", "loss_aggregation", "updates_per_batch", "entropy_bonus",
        "temperature", "lora_rank", "lora_alpha", "sft_warmup", "difficulty_filter", "curriculum",
        "reward_shaping", "staleness", "max_length", "batch_size", "adam_beta2", "full_weights",
        "kl_estimator", "minibatches", "lora_targets", "adam_beta1", "grad_clip", "weight_decay",
        "lr_schedule", "lr_warmup", "correction",
    }  # fmt: skip
    assert asked <= FACTORS.keys()


@ALL
def test_contrast_differs_in_the_factor_alone(factor: CatalogueFactor) -> None:
    a, b, exact_null = contrast(factor.name)
    assert exact_null == (a == b) == (factor.kind == "replicate")
    assert a.steps == 2
    for config in (a, b):
        assert all(need.holds(config) for need in factor.requires)
    one, other = flat(a), flat(b)
    changed = {path for path in known_paths() if one[path] != other[path]}
    allowed = {p for p in known_paths() if p.startswith("algorithm.")}
    assert changed <= (allowed if factor.name == "algorithm" else factor.paths)


@ALL
def test_documented_nulls_differ_in_config_only(factor: CatalogueFactor) -> None:
    for a, b, exact_null in nulls(factor.name):
        assert exact_null
        assert (a == b) == (factor.kind == "replicate")
        assert factor.kind == "replicate" or not all(need.holds(a) for need in factor.requires)


def test_no_name_stands_for_two_things() -> None:
    owner: dict[tuple[str, ...], str] = {}
    for factor in FACTORS.values():
        names = [(alias, factor.name) for alias in phrases(factor.aliases)]
        for level, text in (*factor.words.items(), *factor.hints.items()):
            names += [(phrase, f"{factor.name}={level}") for phrase in phrases(text)]
        for phrase, target in names:
            key = tuple(words(phrase))
            assert key, phrase
            # `group std` names the factor, and beside other levels one of them
            assert owner.setdefault(key, target) in (target, factor.name), phrase
    for metric in METRICS.values():
        for alias in metric.aliases:
            assert owner.setdefault(tuple(words(alias)), metric.name) == metric.name, alias


def test_unknown_factor_names_the_nearest() -> None:
    with pytest.raises(Refusal, match="did you mean group_size"):
        catalogue.factor("groupsize")
