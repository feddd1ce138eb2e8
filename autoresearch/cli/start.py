"""`autoresearch start` and `resume`: plan a study, run it, and show how it ended."""

import json
import os
import subprocess
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from autoresearch.run.study import Summary
    from autoresearch.study.home import Home
    from autoresearch.study.plan import Plan


class ProfileName(StrEnum):
    smoke = "smoke"
    quick = "quick"
    full = "full"


class PlannerName(StrEnum):
    offline = "offline"


def start(
    topic: str = typer.Argument(..., metavar="TOPIC", help="The question, in your own words."),
    playbook: str | None = typer.Option(None, metavar="ID", help="A playbook's id or file."),
    profile: ProfileName = typer.Option(ProfileName.quick, help="How much evidence to pay for."),
    budget: str | None = typer.Option(None, metavar="TIME", help="Wall-clock limit: 45m, 2h, 3d."),
    seed: str = typer.Option("0", metavar="N", help="All seeds of the study derive from it."),
    model: str = typer.Option(
        "tiny", metavar="REF", help="Base model; see `autoresearch model list`."
    ),
    task: str | None = typer.Option(
        None, metavar="REF", help="A built-in task, data.jsonl, or file.py:make."
    ),
    set_: list[str] = typer.Option(
        [], "--set", metavar="PATH=VALUE", help="Fix a training setting. Repeatable."
    ),
    planner: PlannerName = typer.Option(PlannerName.offline, help="Who writes the plan."),
    ray_address: str | None = typer.Option(
        None, metavar="ADDRESS", help="A Ray cluster: auto or host:port. Default: this machine."
    ),
    detach: bool = typer.Option(False, "--detach", help="Run in the background."),
    dry_run: bool = typer.Option(False, "--dry-run", help="Show the plan and touch nothing."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON document."),
) -> None:
    """Plan a study on TOPIC, train, decide, and write a report."""
    from autoresearch.planner.planning import plan_study
    from autoresearch.planner.preview import preview
    from autoresearch.study.home import Home
    from autoresearch.study.options import StartOptions, parse_budget, parse_seed, parse_set
    from swarm import models
    from swarm.tasks import absolute

    home = Home.locate(os.environ, Path.cwd())
    options = StartOptions(
        topic=topic,
        playbook=playbook,
        profile=profile.value,
        budget_seconds=parse_budget(budget) if budget is not None else None,
        seed=parse_seed(seed),
        model=model,
        task=absolute(task, Path.cwd()) if task is not None else None,
        set=parse_set(set_),
        ray_address=ray_address,
    )
    plan = plan_study(options).plan
    models.check(plan.model)
    if dry_run:
        if as_json:
            typer.echo(json.dumps(preview(plan), indent=2))
        else:
            _show(plan, None, None)
        return
    home.check_writable()
    from autoresearch.run.study import new_study

    if ray_address is not None:
        from swarm.cluster.reach import check_reachable

        check_reachable(ray_address)
    study = new_study(home, plan, options)
    if not as_json:
        _show(plan, study, str(home.study(study)))
    if detach:
        _detach(home, study, as_json)
    else:
        raise typer.Exit(_run(home, study, ray_address, as_json).exit_code)


def resume(
    study: str = typer.Argument(..., metavar="STUDY", help="Its id; see `autoresearch list`."),
    budget: str | None = typer.Option(None, metavar="TIME", help="Time to add to what is left."),
    ray_address: str | None = typer.Option(
        None, metavar="ADDRESS", help="As for start; default: as it was started."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON document."),
) -> None:
    """Go on with a study that was paused, killed, or ran out of budget."""
    from autoresearch.study.home import Home
    from autoresearch.study.ledger import Ledger
    from autoresearch.study.options import parse_budget
    from swarm.errors import Refusal

    more = parse_budget(budget) if budget is not None else 0.0
    home = Home.locate(os.environ, Path.cwd())
    ledger = Ledger.open(home)
    facts = ledger.facts(study)
    address = ray_address or ledger.options(study)["ray_address"]
    ledger.close()
    if facts.status == "stopped":
        raise Refusal("study", f"{study} was stopped for good", "start a new one")
    home.check_writable()
    if not as_json:
        typer.echo(f"{study}, {facts.status} at stage {facts.stage}: {facts.topic}")
    raise typer.Exit(_run(home, study, address, as_json, more).exit_code)


def _run(
    home: "Home", study: str, ray_address: str | None, as_json: bool, more_seconds: float = 0.0
) -> "Summary":
    """Drive a study under the view that fits the terminal, then say how it ended."""
    from autoresearch.cli.screen import watch
    from autoresearch.run.study import run_study

    with watch(home.log(study), study, silent=as_json) as observer:
        summary = run_study(
            home,
            study,
            observer=observer,
            ray_address=ray_address,
            more_seconds=more_seconds,
        )
    if as_json:
        typer.echo(json.dumps(summary.json(), indent=2))
    else:
        _show_end(summary)
    return summary


def _show(plan: "Plan", study: str | None, place: str | None) -> None:
    from rich.console import Console

    from autoresearch.cli import planview

    Console(highlight=False).print(planview.render(plan, study, place))


def _show_end(summary: "Summary") -> None:
    """Verdicts and the report's path; or why the study did not get there, and how to go on."""
    from rich.console import Console

    from autoresearch.cli.screen import ending

    console = Console(highlight=False)
    console.print()
    for line in ending(summary):
        console.print(line, soft_wrap=True)


def _detach(home: "Home", study: str, as_json: bool) -> None:
    """Run the study in a session of its own, which outlives this terminal."""
    log = home.log(study)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a") as file:
        child = subprocess.Popen(
            [sys.executable, "-m", "autoresearch.cli.app", "resume", study, "--json"],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
            env={**os.environ, "AUTORESEARCH_HOME": str(home.root)},
        )
    if as_json:
        typer.echo(json.dumps({"study": study, "status": "running", "pid": child.pid}))
        return
    typer.echo(f"running as process {child.pid}; follow it with: autoresearch logs {study} -f")
