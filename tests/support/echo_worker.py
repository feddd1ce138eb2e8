"""A worker for the harness's tests."""

import os
import time

from benchmarks.harness import Payload, serve, timed


def answer(payload: Payload) -> Payload:
    os.write(1, b"noise that a library makes\n")
    match payload.get("do"):
        case "die":
            os.write(2, b"about to leave\n")
            os._exit(3)
        case "raise":
            raise ValueError("a bad request")
        case "hang":
            time.sleep(60)
    return timed(lambda: sum(range(1000))) | {"echo": payload, "pid": os.getpid()}


if __name__ == "__main__":
    serve(answer)
