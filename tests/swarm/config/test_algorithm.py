"""How the algorithm's settings take over a preset."""

import json
import subprocess
import sys

from swarm.algorithms import PRESETS
from swarm.config.algorithm import BOUNDS, AlgorithmSettings, merged
from swarm.config.train import TrainConfig


class TestParts:
    def test_a_part_of_a_part_leaves_the_rest_of_the_preset(self) -> None:
        settings = AlgorithmSettings(name="dppo", correction={"high": 0.3})
        assert (settings.correction.kind, settings.correction.bounds) == ("dppo", (0.2, 0.3))

    def test_by_path(self) -> None:
        values = {"algorithm.name": "dppo", "algorithm.correction.high": 0.3}
        assert TrainConfig().with_values(values).algorithm.correction.bounds == (0.2, 0.3)

    def test_merging_touches_neither(self) -> None:
        preset, given = {"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"b": 4}}
        assert merged(preset, given) == {"a": {"b": 4, "c": 2}, "d": 3}
        assert (preset, given) == ({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"b": 4}})


def test_presets_import_without_torch() -> None:
    code = "import sys, swarm.config.algorithm; print('torch' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


def test_the_defaults_of_settings_are_the_default_preset() -> None:
    assert AlgorithmSettings() == AlgorithmSettings(**json.loads(json.dumps({"name": "default"})))
    fields = {k: f.get_default() for k, f in AlgorithmSettings.model_fields.items()}
    assert {k: fields[k] for k in PRESETS["default"]} == dict(PRESETS["default"])


class TestAnotherKindOfCorrection:
    """Bounds are of a kind: those of another are in another unit."""

    DPPO = TrainConfig().with_values({"algorithm.name": "dppo"})

    def test_it_has_its_own_bounds(self) -> None:
        algorithm = self.DPPO.with_values({"algorithm.correction.kind": "token_mask"}).algorithm
        assert algorithm.correction.bounds == BOUNDS["token_mask"]
        settings = AlgorithmSettings(name="dppo", correction={"kind": "token_mask"})
        assert settings == algorithm

    def test_but_for_those_given_with_it(self) -> None:
        values = {"algorithm.correction.kind": "token_mask", "algorithm.correction.low": 0.2}
        assert self.DPPO.with_values(values).algorithm.correction.bounds == (0.2, 2.0)

    def test_none_has_none(self) -> None:
        values = {
            "algorithm.correction.kind": "none",
            "algorithm.clip_low": 0.2,
            "algorithm.clip_high": 0.2,
        }
        correction = self.DPPO.with_values(values).algorithm.correction
        assert (correction.low, correction.high) == (None, None)

    def test_the_same_kind_keeps_what_it_had(self) -> None:
        wider = self.DPPO.with_values({"algorithm.correction.high": 0.3})
        assert wider.with_values({"algorithm.correction.kind": "dppo"}) == wider
