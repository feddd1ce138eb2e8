"""A local Ray that dies under its driver."""

from pathlib import Path

import fault_entries as entries
import psutil
import pytest
from small_wave import STUDY, holding, specs

from swarm.cluster.cluster import Cluster
from swarm.cluster.errors import ClusterLost

pytestmark = pytest.mark.faults


def test_a_local_ray_that_dies_ends_the_wave(tmp_path: Path) -> None:
    log = tmp_path / "runs" / STUDY
    with Cluster.start(None, log, 1, entry=entries.ENTRY) as cluster:
        raylets = [p for p in psutil.Process().children(recursive=True) if p.name() == "raylet"]
        raylets[-1].kill()
        with holding(tmp_path, cluster) as wave, pytest.raises(ClusterLost, match="resume"):
            wave.run(specs(1, 2, 3))
