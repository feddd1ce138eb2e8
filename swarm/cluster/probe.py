"""A script that `reach` runs: exits with 0 if a Ray cluster answers at the address in argv.
Otherwise it exits with 1 and says on stdout, in one line, what is wrong."""

import os
import socket
import sys


def problem_with(address: str) -> str:
    """Empty if a driver on this machine can connect to `auto` or `host:port`."""
    named = os.environ.get("RAY_ADDRESS", "auto") if address == "auto" else address
    host, _, port = named.rpartition(":")
    if port.isdigit():
        try:
            socket.create_connection((host, int(port)), timeout=5).close()
        except OSError as error:
            return f"nothing answers at {named} ({error.strerror or error})"
    import ray

    try:
        ray.init(address=address, log_to_driver=False, configure_logging=False)
    except ConnectionError:
        return "no Ray cluster runs on this machine"
    except Exception as error:
        return " ".join(str(error).split())[:300]
    return ""


if __name__ == "__main__":
    problem = problem_with(sys.argv[1])
    sys.stdout.write(problem)
    sys.exit(bool(problem))
