"""A local Ray that dies under its driver."""

from pathlib import Path

import psutil
import pytest
from support import fault_entries as entries
from support.small_trials import STUDY, holding, specs

from swarm.cluster.cluster import Cluster
from swarm.errors import ClusterLost

pytestmark = pytest.mark.faults


def test_a_local_ray_that_dies_ends_the_trials(tmp_path: Path) -> None:
    log = tmp_path / "runs" / STUDY / "study.log"
    with Cluster.start(None, STUDY, log, 1, entry=entries.ENTRY) as cluster:
        raylets = [p for p in psutil.Process().children(recursive=True) if p.name() == "raylet"]
        raylets[-1].kill()
        with holding(tmp_path, cluster) as turn, pytest.raises(ClusterLost, match="resume"):
            turn.run(specs(1, 2, 3))
