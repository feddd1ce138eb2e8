"""A driver in a process of its own: `drive.py ROOT ADDRESS|local STEPS SEED...`."""

import sys
from pathlib import Path

import fault_entries
from small_wave import STUDY, holding, specs

from autoresearch.study.errors import Paused
from swarm.cluster.cluster import Cluster

root, address, steps, *seeds = sys.argv[1:]
study = Path(root) / "runs" / STUDY
entry = fault_entries.ENTRY
with (
    Cluster.start(None if address == "local" else address, study, 2, entry=entry) as cluster,
    holding(Path(root), cluster) as wave,
):
    try:
        wave.run(specs(*map(int, seeds), steps=int(steps)))
    except Paused:
        sys.exit(3)
