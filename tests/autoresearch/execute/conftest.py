"""One local Ray for the tests of a module; they run `fault_entries` in place of the trainer."""

import pytest
from support import fault_entries
from support.child_path import child_path

from swarm.cluster.cluster import Cluster


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", child_path())
        log = tmp_path_factory.mktemp("study") / "study.log"
        with Cluster.start(
            None, "fault-entries", log, cpus=2, entry=fault_entries.ENTRY
        ) as cluster:
            yield cluster
