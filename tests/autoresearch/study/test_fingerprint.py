"""What a study's numbers depend on besides its plan."""

from support.plans import small_plan

from autoresearch.study.fingerprint import is_of_an_earlier_version, study_fingerprint
from swarm.models import tiny
from swarm.tasks import evaluator_digest


def test_it_names_model_evaluators_and_the_libraries_that_decide() -> None:
    found = study_fingerprint(small_plan(tasks=("reverse", "chain")))
    assert found["model_digest"] == tiny.FILES[tiny.WEIGHTS]
    assert found["evaluator.reverse"] == evaluator_digest("reverse")
    assert found["evaluator.chain"] == evaluator_digest("chain")
    assert "evaluator.sort" not in found
    assert {"torch", "ray", "scipy", "optuna"} <= found.keys()
    assert found["threads"] == 1


def test_a_record_with_one_evaluator_for_all_is_of_an_earlier_version() -> None:
    assert is_of_an_earlier_version({"evaluator": "ab", "model": "tiny"})
    assert not is_of_an_earlier_version(study_fingerprint(small_plan()))
