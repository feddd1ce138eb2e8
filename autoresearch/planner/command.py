"""The shell command that asks for the same study."""

import json
import shlex
from collections.abc import Mapping

from autoresearch.planner.options import StartOptions

_FLAGS: Mapping[str, str] = {
    "playbook": "--playbook",
    "profile": "--profile",
    "model": "--model",
    "task": "--task",
    "seed": "--seed",
}


def start_command(options: StartOptions) -> str:
    """`autoresearch start …` with every option that is not at its default, but for the budget."""
    words = ["autoresearch", "start", options.topic]
    for name, flag in _FLAGS.items():
        value = getattr(options, name)
        if value != StartOptions.model_fields[name].default:
            words += [flag, str(value)]
    for path, value in options.set.items():
        words += ["--set", f"{path}={value if isinstance(value, str) else json.dumps(value)}"]
    return shlex.join(words)
