"""Whether a Ray cluster answers, known within seconds."""

import re
import socket
import subprocess
import sys
from pathlib import Path

import psutil

from swarm.cluster import probe
from swarm.errors import RayUnreachable

PATIENCE = 15.0
_NO_TOKEN = "InvalidAuthToken"


def check_reachable(address: str) -> None:
    """Return if this machine has joined the Ray cluster at `auto` or `host:port`. On a dead address
    `ray.init` waits for two minutes and then ends its process (Ray 2.60), so a child asks. Raises
    RayUnreachable within `PATIENCE` seconds; it names the head of this machine that does answer."""
    if address != "auto" and not re.fullmatch(r"[\w.-]+:\d{1,5}", address):
        raise RayUnreachable(address, "is neither `auto` nor `host:port`")
    command = [sys.executable, "-P", str(Path(probe.__file__)), address]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired as late:
        problem = f"no Ray cluster answered in {PATIENCE:.0f} s"
        said = (late.stderr or b"").decode(errors="replace")
    else:
        if not answer.returncode:
            return
        problem, said = answer.stdout or "no Ray cluster answers", answer.stderr
    if _NO_TOKEN in said:  # to an address that is given, Ray shows no token unless it is told to
        problem = "the Ray cluster there asks for its token"
        next_step = "give auto if its head runs on this machine, or set RAY_AUTH_MODE=token"
        raise RayUnreachable(address, problem, next_step)
    raise RayUnreachable(address, problem, _instead(address))


def heads_here() -> list[str]:
    """The addresses of the Ray heads of this machine that accept connections. A head that was
    started here listens at its node's address, which need not be the loopback's."""
    found = []
    for process in psutil.process_iter(["name", "cmdline"]):
        if process.info["name"] == "gcs_server":
            words = dict(
                word.split("=", 1) for word in process.info["cmdline"] or () if "=" in word
            )
            address = words.get("--node-ip-address", ""), words.get("--gcs_server_port", "")
            if address[1].isdigit() and _accepts(address[0], int(address[1])):
                found.append(":".join(address))
    return sorted(found)


def _instead(address: str) -> str:
    """What to give in the place of an address that does not answer; empty where nothing does."""
    others = [head for head in heads_here() if head != address]
    return (
        f"a Ray head of this machine answers at {others[0]}: give auto, or that" if others else ""
    )


def _accepts(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:
        return False
    return True
