"""What names a trial."""

from support.plans import trial_spec

from autoresearch.study.trial import TrialSpec
from swarm.config.base import canonical_digest
from swarm.config.train import TrainConfig


def test_the_id_of_a_trial_follows_all_that_could_change_its_outcome_and_not_its_study() -> None:
    changes = [
        {"phase": "pilot"},
        {"round": 2},
        {"arm": "b"},
        {"task": "sort"},
        {"registration": "q"},
        {"config": TrainConfig(seed=1, steps=3)},
    ]
    ids = [trial_spec(1, **change).id for change in changes]
    assert len({*ids, trial_spec(1).id, trial_spec(2).id}) == len(changes) + 2
    assert trial_spec(1, study="s2", label="candidate-1").id == trial_spec(1).id


def test_a_trial_that_was_stored_before_a_setting_existed_keeps_its_id() -> None:
    spec = trial_spec(7)
    stored = spec.model_dump(mode="json")
    stored["config"]["algorithm"].pop("returns", None)
    found = TrialSpec.model_validate(stored)
    asked = [found.registration, found.phase, found.round, found.arm, found.task, found.seed]
    assert found.id == spec.id == canonical_digest([*asked, stored["config"]])[:16]
