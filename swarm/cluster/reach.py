"""Whether a Ray cluster answers, known within seconds."""

import re
import subprocess
import sys
from pathlib import Path

from swarm.cluster import probe
from swarm.errors import RayUnreachable

PATIENCE = 15.0


def check_reachable(address: str) -> None:
    """Return if this machine has joined the Ray cluster at `auto` or `host:port`. On a dead address
    `ray.init` waits for two minutes and then ends its process (Ray 2.60), so a child asks. Raises
    RayUnreachable within `PATIENCE` seconds."""
    if address != "auto" and not re.fullmatch(r"[\w.-]+:\d{1,5}", address):
        raise RayUnreachable(address, "is neither `auto` nor `host:port`")
    command = [sys.executable, "-P", str(Path(probe.__file__)), address]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        raise RayUnreachable(address, f"no Ray cluster answered in {PATIENCE:.0f} s") from None
    if answer.returncode:
        raise RayUnreachable(address, answer.stdout or "no Ray cluster answers")
