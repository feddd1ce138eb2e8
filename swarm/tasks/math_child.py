"""The child of `math_check`: lines `[answer, completion]` in, `true` or `false` out."""

import json
import logging
import os
import resource
import sys


def main(seconds: int, memory: int) -> None:
    """Compare until stdin ends. `seconds` of processor time a line, `memory` bytes in all."""
    from math_verify import parse, verify

    logging.disable()
    answers = os.fdopen(os.dup(1), "w")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)  # nothing that a library prints is an answer
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    answers.write("ready\n")
    answers.flush()
    os.dup2(nowhere, 2)  # what ends it from here on is what was written, and its reader knows
    for line in sys.stdin:
        used = resource.getrusage(resource.RUSAGE_SELF)
        spent = int(used.ru_utime + used.ru_stime)
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (spent + seconds, hard))
        answer, completion = json.loads(line)
        if not any(sign in answer for sign in ("$", "\\boxed", "\\(", "\\[")):
            answer = f"${answer}$"
        right = parse(answer, parsing_timeout=None)
        given = parse(completion, parsing_timeout=None)
        same = bool(right and given and verify(right, given, timeout_seconds=None))
        answers.write("true\n" if same else "false\n")
        answers.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
