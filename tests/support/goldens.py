"""What must stay as it is while the code around it moves: plans, a study's claims, weights.

`make goldens` writes `tests/goldens/*.json` anew; do so only where a change of behaviour is meant,
and say so in the change. Plans are the same on every machine. Claims and weights follow the
rounding of one processor and one torch, whose names stand beside them.
"""

import hashlib
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

GOLDENS = Path(__file__).parents[1] / "goldens"
ROOT = Path(__file__).parents[2]

#: What a plan says of the machine that it was made on.
OF_THE_MACHINE = {"estimated_seconds", "estimated_trial_seconds", "budget"}

#: The smoke study whose claims are kept.
STUDY = ("does dividing by the group std matter in GRPO?", "--profile", "smoke", "--json")

#: Claims of the machine, the clock and the program's own version.
UNSTABLE = ("fingerprint.", "cost.", "registered_at", "first_trial_at", "full.seconds", "alarm.")

#: Three short runs: the default recipe, one with a value head and several passes, one that draws
#: groups again and samples from old weights.
RUNS: Mapping[str, Mapping[str, Any]] = {
    "default": {},
    "ppo": {"algorithm.name": "ppo", "batch.epochs": 2, "batch.minibatches": 2},
    "dapo": {
        "algorithm.name": "dapo",
        "max_staleness": 1,
        "algorithm.correction.kind": "token_mask",
    },
}


def machine() -> dict[str, str]:
    """What claims and weights depend on besides the code."""
    from importlib.metadata import version

    return {"cpu": cpu(), "torch": version("torch"), "python": platform.python_version()[:4]}


def cpu() -> str:
    """The processor's model and its vector extensions, which choose torch's kernels."""
    import torch

    info = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
    named = (line.partition(":")[2].strip() for line in info if line.startswith("model name"))
    family = [line.partition(":")[2].strip() for line in info if line.startswith("model\t")][:1]
    return " ".join([next(named, "?"), *family, torch.backends.cpu.get_cpu_capability()])


def plan_digest(topic: str, options: Mapping[str, Any]) -> str:
    """sha256 of the plan of a topic, or what it is refused with."""
    from autoresearch.planner.planning import plan_study
    from autoresearch.study.options import StartOptions
    from swarm.errors import Refusal

    try:
        plan = plan_study(StartOptions.model_validate(options)).plan
    except Refusal as error:
        return f"refused: {error}"
    return digest(plan.model_dump(mode="json", exclude=OF_THE_MACHINE))


def claim_digest(claims: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """How many claims hold on every run of the study, and the sha256 of their values and queries.

    The ids of runs are left out: they hash the registration, which holds the machine's estimate.
    """
    kept = [
        {name: claim[name] for name in ("id", "kind", "value", "unit", "n", "interval", "query")}
        for claim in claims
        if not claim["id"].startswith(UNSTABLE)
    ]
    return {"claims": len(kept), "sha256": digest(kept)}


def adapter_digest(values: Mapping[str, Any], folder: Path) -> str:
    """sha256 of the adapter that a short run on `tiny` leaves in `folder`, on one thread."""
    import torch

    from swarm.config.train import TrainConfig
    from swarm.train.loop import train

    torch.set_num_threads(1)
    small = {
        "steps": 4,
        "batch.rollouts": 32,
        "batch.group_size": 8,
        "evaluation.every": 4,
        "evaluation.prompts": 16,
        "optim.lr": 5e-3,
    }
    train(TrainConfig().with_values({**small, **values}), folder)
    return hashlib.sha256(
        (folder / "adapter" / "adapter_model.safetensors").read_bytes()
    ).hexdigest()


def digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def run_study(home: Path) -> list[dict[str, Any]]:
    """The claims of a smoke study, run by the command line in an empty `home`."""
    command = [sys.executable, str(ROOT / "cli.py"), "start", *STUDY]
    environment = {**os.environ, "AUTORESEARCH_HOME": str(home)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    claims: list[dict[str, Any]] = json.loads(Path(json.loads(done.stdout)["claims"]).read_text())[
        "claims"
    ]
    return claims


def write(name: str, value: object) -> None:
    text = json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False)
    (GOLDENS / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def read(name: str) -> Any:
    """A golden as it was written."""
    return json.loads((GOLDENS / f"{name}.json").read_text(encoding="utf-8"))


def main() -> None:
    rows = [{"topic": row["topic"], "options": row["options"]} for row in read("plans")]
    write("plans", [{**row, "plan": plan_digest(row["topic"], row["options"])} for row in rows])
    with tempfile.TemporaryDirectory() as folder:
        adapters = {
            name: adapter_digest(values, Path(folder) / name) for name, values in RUNS.items()
        }
        write("adapters", {"machine": machine(), "adapters": adapters})
        claims = claim_digest(run_study(Path(folder) / "home"))
        write("claims", {"machine": machine(), **claims})


if __name__ == "__main__":
    main()
