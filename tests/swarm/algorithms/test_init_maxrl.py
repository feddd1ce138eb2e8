"""Which objective MaxRL's advantages follow, by summing over every group that can be drawn."""

from itertools import product

import numpy as np
import pytest

from swarm.config.algorithm import AlgorithmSettings
from swarm.learn.advantages import episode_advantages

LOGITS = np.array([0.3, -1.2, 0.9, -0.4])
RIGHT = np.array([1.0, 1.0, 0.0, 0.0])
PI = np.exp(LOGITS) / np.exp(LOGITS).sum()
P = float(PI @ RIGHT)
SCORES = np.eye(len(PI)) - PI  # of each answer, the gradient of its log-probability in the logits
GRAD_P = PI @ (RIGHT[:, None] * SCORES)


def expected_gradient(members: int, **settings: str) -> np.ndarray:
    """Of 1/G sum A_i grad log pi(y_i), exactly."""
    algorithm = AlgorithmSettings(**settings)
    total = np.zeros_like(LOGITS)
    for group in product(range(len(PI)), repeat=members):
        answers = np.array(group)
        (found,) = episode_advantages([RIGHT[answers].tolist()], algorithm)
        total += np.prod(PI[answers]) * (np.array(found) @ SCORES[answers]) / members
    return total


def likelihood(order: int) -> np.ndarray:
    """The gradient of log p cut after its terms (1 - p)^k / k, k = 1 .. order."""
    return sum((1 - P) ** (k - 1) for k in range(1, order + 1)) * GRAD_P


@pytest.mark.parametrize("members", [2, 3, 4, 5])
def test_it_is_the_likelihood_cut_after_one_term_less_than_the_group(members: int) -> None:
    found = expected_gradient(members, name="maxrl")
    assert found == pytest.approx(likelihood(members - 1), rel=1e-12)
    assert found == pytest.approx((1 - (1 - P) ** (members - 1)) / P * GRAD_P, rel=1e-12)
    assert not np.allclose(found, likelihood(members), rtol=1e-3)


def test_in_pairs_it_is_reinforce_with_leave_one_out() -> None:
    for pair in product((0.0, 1.0), repeat=2):
        maxrl, rloo = (
            episode_advantages([pair], AlgorithmSettings(name=name)) for name in ("maxrl", "rloo")
        )
        assert maxrl == rloo
    assert expected_gradient(2, name="maxrl") == pytest.approx(GRAD_P, rel=1e-12)
