"""A topic is put to the planner, in this process or by the real command."""

import json
import os
import subprocess
import sys
from pathlib import Path

from autoresearch.planner.planning import plan_study
from autoresearch.planner.preview import preview
from autoresearch.study.options import StartOptions
from benchmarks.questions.check import Answer
from benchmarks.questions.entries import Entry
from swarm import models
from swarm.errors import Refusal

ROOT = Path(__file__).parents[2]
BAD_INPUT = 2
#: Seconds that a plan may take, and far more than one does.
LONGEST = 120


def ask(entry: Entry, folder: Path) -> Answer:
    """The answer to an entry, with `folder` as working folder and home. Where options are given it
    is the command's, else that of the functions that the command calls."""
    return by_command(entry, folder) if entry.options else in_process(entry)


def in_process(entry: Entry) -> Answer:
    """The answer to a topic without options. An error that no user should see is a crash."""
    try:
        drafted = plan_study(StartOptions(topic=entry.topic))
        models.check(drafted.plan.model)
        return Answer(plan=json.loads(json.dumps(preview(drafted.plan, drafted.intent))))
    except Refusal as refusal:
        return Answer(refusal=str(refusal))
    except Exception as error:  # counted, so that one topic does not hide the others
        return Answer(crash=f"{type(error).__name__}: {error}".splitlines()[0])


def by_command(entry: Entry, folder: Path) -> Answer:
    """The answer of `autoresearch start … --dry-run --json`."""
    command = [sys.executable, str(ROOT / "cli.py"), "start", *entry.command]
    done = subprocess.run(
        [*command, "--dry-run", "--json"],
        cwd=folder,
        env=os.environ | {"AUTORESEARCH_HOME": str(folder), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST,
    )
    if done.returncode not in (0, BAD_INPUT):
        return Answer(crash=(done.stderr.strip().splitlines() or ["no word"])[-1])
    document = json.loads(done.stdout)
    if done.returncode == 0:
        return Answer(plan=document)
    error = document["error"]
    return Answer(refusal=f"{error['field']}: {error['problem']}; {error['next_step']}")
