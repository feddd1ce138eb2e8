"""A driver in a process of its own: `-m support.trial_driver ROOT ADDRESS|local STEPS SEED...`."""

import sys
from pathlib import Path

from autoresearch.study.endings import Paused
from autoresearch.study.home import Home
from support import fault_entries
from support.small_trials import STUDY, holding, specs
from swarm.cluster.cluster import Cluster

root, address, steps, *seeds = sys.argv[1:]
home = Home(Path(root))
namespace, log = home.ray_namespace(STUDY), home.log(STUDY)
entry = fault_entries.ENTRY
with (
    Cluster.start(None if address == "local" else address, namespace, log, 2, entry) as cluster,
    holding(Path(root), cluster) as turn,
):
    try:
        turn.run(specs(*map(int, seeds), steps=int(steps)))
    except Paused:
        sys.exit(3)
