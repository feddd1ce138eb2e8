"""Drives a study in a process of its own: `-m support.study_driver HOME STUDY`. Its trials are
faults."""

import sys
from pathlib import Path

from autoresearch.execute.observer import Observer
from autoresearch.run.study import run_study
from autoresearch.study.home import Home
from support import fault_entries
from swarm import models

if __name__ == "__main__":
    root, study = sys.argv[1:]
    models.ensure = lambda ref, progress=None: Path(root)  # fault entries need no model
    summary = run_study(Home(Path(root)), study, observer=Observer(), entry=fault_entries.ENTRY)
    sys.exit(summary.exit_code)
