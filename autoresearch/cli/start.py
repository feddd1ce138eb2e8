"""`autoresearch start` and `resume`: plan a study, run it, and show how it ended."""

import os
import subprocess
import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from autoresearch.cli import approval, planview
from autoresearch.cli.screen import ending, watch
from autoresearch.planner.plan_file import read_plan, write_plan
from autoresearch.planner.preview import preview
from autoresearch.study.durations import parse_duration
from autoresearch.study.home import Home
from autoresearch.study.intent import Intent
from autoresearch.study.ledger import Ledger
from autoresearch.study.options import StartOptions, parse_evaluation, parse_levels, parse_seed
from autoresearch.study.plan import Plan
from swarm import models
from swarm.cli.documents import print_document
from swarm.cluster.reach import check_reachable
from swarm.config.assignments import assignments, single_values
from swarm.config.parts import EvalSet
from swarm.errors import Refusal
from swarm.tasks import absolute


class ProfileName(StrEnum):
    smoke = "smoke"
    quick = "quick"
    full = "full"


def start(
    topic: str | None = typer.Argument(
        None, metavar="[TOPIC]", help="The question, in your own words."
    ),
    plan_file: Path | None = typer.Option(
        None, "--plan", metavar="FILE", help="A whole plan instead of a topic; see --out."
    ),
    playbook: str | None = typer.Option(None, metavar="ID", help="A playbook's id or file."),
    profile: ProfileName | None = typer.Option(
        None, help="How much evidence to pay for.  [default: quick]"
    ),
    budget: str | None = typer.Option(None, metavar="TIME", help="Wall-clock limit: 45m, 2h, 3d."),
    seed: str | None = typer.Option(
        None, metavar="N", help="All seeds of the study derive from it.  [default: 0]"
    ),
    model: str | None = typer.Option(
        None, metavar="REF", help="Base model; see `autoresearch model list`.  [default: tiny]"
    ),
    task: str | None = typer.Option(
        None, metavar="REF", help="A built-in task, data.jsonl, or file.py:make."
    ),
    reward: str | None = typer.Option(
        None, metavar="NAME", help="A reward of the task, a checker, or file.py:function."
    ),
    evaluation: list[str] = typer.Option(
        [], "--eval", metavar="REF[,k=8]", help="Evaluate on these rows instead. Repeatable."
    ),
    factor: list[str] = typer.Option(
        [], "--factor", metavar="PATH=A,B", help="Test these levels of any setting. Repeatable."
    ),
    set_: list[str] = typer.Option(
        [], "--set", metavar="PATH=VALUE", help="Fix a training setting. Repeatable."
    ),
    planner: str | None = typer.Option(
        None, metavar="NAME", help="Who reads the topic: offline, or file.py:function."
    ),
    ray_address: str | None = typer.Option(
        None, metavar="ADDRESS", help="A Ray cluster: auto or host:port. Default: this machine."
    ),
    detach: bool = typer.Option(False, "--detach", help="Run in the background."),
    dry_run: bool = typer.Option(False, "--dry-run", help="Show the plan and touch nothing."),
    out: Path | None = typer.Option(
        None, metavar="FILE", help="With --dry-run: write the plan there, to edit and to start."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON document."),
) -> None:
    """Plan a study on TOPIC, train, decide, and write a report."""
    if out is not None and not dry_run:
        raise Refusal("out", "it goes with --dry-run", "add --dry-run, or drop --out")
    home = Home.locate(os.environ, Path.cwd())
    asked = {
        "playbook": playbook,
        "profile": profile.value if profile else None,
        "budget": budget,
        "seed": seed,
        "model": model,
        "task": task,
        "reward": reward,
        "eval": evaluation or None,
        "factor": factor or None,
        "set": set_ or None,
        "planner": planner,
    }
    given = {name: value for name, value in asked.items() if value is not None}
    for name, value in given.items():
        if isinstance(value, str) and not value.strip():
            raise Refusal(name, "it is empty", "give a value, or leave the option out")
    if plan_file is not None:
        options, plan, intent = _from_file(plan_file, topic, given, ray_address)
    else:
        options, plan, intent = _from_topic(home, topic, given, ray_address)
    models.check(plan.model)
    console = Console(highlight=False)
    if dry_run:
        if out is not None:
            write_plan(out, plan)
        if as_json:
            print_document(preview(plan, intent))
        else:
            console.print(approval.render(plan, options.set, intent))
        return
    home.check_writable()
    if ray_address is not None:
        check_reachable(ray_address)
    from autoresearch.run.study import new_study  # LangGraph: `--help` does without

    study = new_study(home, plan, options)
    if not as_json:
        console.print(planview.render(plan, study, str(home.study(study)), intent))
    if detach:
        _detach(home, study, as_json)
    else:
        raise typer.Exit(_run(home, study, ray_address, as_json))


def _from_topic(
    home: Home, topic: str | None, given: Mapping[str, Any], ray_address: str | None
) -> tuple[StartOptions, Plan, Intent | None]:
    """The options, and what the planner makes of them and of what is known."""
    from autoresearch.planner.planning import plan_study

    if topic is None:
        raise Refusal("topic", "there is none", 'ask a question: autoresearch start "…"')
    same = {name: given[name] for name in ("playbook", "profile", "model") if name in given}
    if "planner" in given:
        same["planner"] = absolute(given["planner"], Path.cwd())
    options = StartOptions(
        topic=topic,
        budget_seconds=parse_duration(given["budget"], "budget") if "budget" in given else None,
        seed=parse_seed(given["seed"]) if "seed" in given else None,
        task=absolute(given["task"], Path.cwd()) if "task" in given else None,
        reward=absolute(given["reward"], Path.cwd()) if "reward" in given else None,
        evaluation=tuple(map(_evaluation, given["eval"])) if "eval" in given else None,
        levels=parse_levels(given.get("factor", [])),
        set=single_values(assignments(given.get("set", []))),
        ray_address=ray_address,
        **same,
    )
    ledger = Ledger.open(home)
    findings = ledger.findings(topic)
    ledger.close()
    drafted = plan_study(options, findings=findings)
    return options, drafted.plan, drafted.intent


def _evaluation(text: str) -> EvalSet:
    named = parse_evaluation(text)
    files = {name: absolute(getattr(named, name), Path.cwd()) for name in ("ref", "reward")}
    return named.model_copy(update=files)


def _from_file(
    file: Path, topic: str | None, given: Mapping[str, Any], ray_address: str | None
) -> tuple[StartOptions, Plan, Intent | None]:
    """The plan of a file, and options that name it. Raises Refusal for what would change it."""
    if topic is not None or given:
        other = "topic" if topic is not None else f"--{next(iter(given))}"
        raise Refusal("plan", f"{file} is a whole plan and takes no {other}", "edit the file")
    plan = read_plan(file)
    options = StartOptions(
        topic=plan.topic,
        playbook=plan.playbook,
        profile=plan.profile,
        model=plan.model,
        ray_address=ray_address,
        plan=str(file.absolute()),
    )
    return options, plan, None


def resume(
    study: str = typer.Argument(..., metavar="STUDY", help="Its id; see `autoresearch list`."),
    budget: str | None = typer.Option(None, metavar="TIME", help="Time to add to what is left."),
    ray_address: str | None = typer.Option(
        None, metavar="ADDRESS", help="As for start; default: as it was started."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON document."),
) -> None:
    """Go on with a study that was paused, killed, or ran out of budget."""
    more = parse_duration(budget, "budget") if budget is not None else 0.0
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
    raise typer.Exit(_run(home, study, address, as_json, more))


def _run(
    home: Home, study: str, ray_address: str | None, as_json: bool, more_seconds: float = 0.0
) -> int:
    """Drive a study under the view that fits the terminal, then say how it ended: verdicts and the
    report's path, or why there is none and how to go on. The exit code."""
    from autoresearch.run.study import run_study

    with watch(home.log(study), silent=as_json) as observer:
        summary = run_study(
            home, study, observer=observer, ray_address=ray_address, more_seconds=more_seconds
        )
    if as_json:
        print_document(summary.json())
        return summary.exit_code
    console = Console(highlight=False)
    console.print()
    for line in ending(summary):
        console.print(line, soft_wrap=True)
    return summary.exit_code


def _detach(home: Home, study: str, as_json: bool) -> None:
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
        print_document({"study": study, "status": "running", "pid": child.pid})
        return
    typer.echo(f"running as process {child.pid}; follow it with: autoresearch logs {study} -f")
