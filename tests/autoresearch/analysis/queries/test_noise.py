"""What is said of noise and of tuning."""

import math

import numpy as np
import pytest
from support.synthetic_study import CONTROL, TREATMENT, confirm_scores

from autoresearch.analysis.claims import Claim
from autoresearch.study.facts import StudyFacts


def test_the_detectable_effect_follows_from_the_pooled_sd(
    facts: StudyFacts, claims: dict[str, Claim]
) -> None:
    arms = [confirm_scores(facts, arm) for arm in (TREATMENT, CONTROL)]
    pooled = math.sqrt(sum(np.var(arm, ddof=1) for arm in arms) / 2)
    assert claims["H1.seed_sd"].value == pytest.approx(pooled)
    # Welch at five seeds, alpha .05 and power .8 detects about two standard deviations.
    assert 1.9 * pooled < float(claims["H1.detectable"].value) < 2.2 * pooled


def test_tuning_claims_name_candidates_and_the_choice(claims: dict[str, Claim]) -> None:
    values = [claims[f"tuning.candidate-{i}.value"].value for i in range(3)]
    assert values == [1e-3, 4e-4, 4e-3]
    assert claims["tuning.choice"].value == 1e-3
    assert claims["tuning.candidate-0.score"].n == 2
