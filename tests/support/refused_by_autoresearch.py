"""A refused command for each place in `autoresearch` that makes a Refusal."""

import socket
import sqlite3
from collections.abc import Mapping
from pathlib import Path

from autoresearch.study.ledger import Ledger
from support.plans import TOPIC
from support.refused import (
    ASK,
    by_module,
    case,
    own_planner,
    plan_file,
    playbook,
    study,
    study_that,
)

MINE = f"{ASK} --planner mine.py:plan"
SHOW = "autoresearch playbook show playbooks/mine.yaml"
FILE = "autoresearch start --plan plan.yaml --dry-run"
MLFLOW = {"home/runs/mlflow.sqlite": ""}


def ask(topic: str, *words: str) -> str:
    return " ".join([f"autoresearch start '{topic}' --dry-run", *words])


def was_stopped(ledger: Ledger, study: str) -> None:
    ledger.set_status(study, "stopped")


def was_begun_by_an_earlier_version(ledger: Ledger, study: str) -> None:
    ledger.record(study, "fingerprint", {"evaluator": "ab"})


def a_newer_ledger() -> None:
    Path("home/runs").mkdir(parents=True)
    db = sqlite3.connect("home/runs/ledger.sqlite")
    db.execute("PRAGMA user_version = 99")
    db.close()


def a_foreign_database() -> None:
    Path("home/runs").mkdir(parents=True)
    db = sqlite3.connect("home/runs/ledger.sqlite")
    db.execute("CREATE TABLE songs (title)")
    db.close()


def a_home_in_a_circle() -> None:
    Path("home").symlink_to("home")


def being_driven() -> Mapping[str, str]:
    """A study whose lease this very process keeps."""
    from autoresearch.study.home import Home

    named = study()
    ledger = Ledger.open(Home(Path("home").resolve()))
    held = ledger.hold(named["STUDY"])
    held.__enter__()
    HELD.append(held)
    return named


def a_broken_report() -> Mapping[str, str]:
    named = study()
    folder = Path("home/reports", named["STUDY"])
    folder.mkdir(parents=True)
    (folder / "claims.json").write_text("{")
    return named


#: Kept open as long as the tests run.
TAKEN: list[socket.socket] = []
HELD: list[object] = []


def a_taken_port() -> Mapping[str, str]:
    TAKEN.append(socket.create_server(("127.0.0.1", 0)))
    return {"PORT": str(TAKEN[-1].getsockname()[1])}


CASES = by_module(
    {
        "autoresearch.catalogue": {"factor": own_planner({"name": "groupsize"})},
        "autoresearch.catalogue.factor": {
            "CatalogueFactor.check": own_planner({"name": "baseline", "levels": ["median"]}),
        },
        "autoresearch.catalogue.path_factor": {
            "path_factor": case(f"{ASK} --factor model.ref=tiny,other")
        },
        "autoresearch.cli.model": {
            "build": case("autoresearch model build --out none/tiny"),
            "_no_such": case("autoresearch model add tinny"),
        },
        "autoresearch.cli.mlflow": {
            "mlflow": case("autoresearch mlflow STUDY", {}, being_driven),
        },
        "autoresearch.cli.playbook": {
            "show": case("autoresearch playbook show"),
            "new": case("autoresearch playbook new mine --from kl-penalty", {"playbooks": ""}),
            "_check_new#1": case("autoresearch playbook new mine"),
            "_check_new#2": case("autoresearch playbook new Mine! --from kl-penalty"),
            "_check_new#3": case("autoresearch playbook new kl-penalty --from group-size"),
        },
        "autoresearch.cli.report": {
            "_planned": case("autoresearch report build STUDY", {}, study),
            "_report_file": case("autoresearch report show STUDY", {}, study),
            "_claims": case("autoresearch report diff STUDY STUDY", {}, a_broken_report),
        },
        "autoresearch.cli.start": {
            "start#1": case(f"autoresearch start '{TOPIC}' --out plan.yaml"),
            "start#2": case(f"{ASK} --model ''"),
            "_from_topic": case("autoresearch start"),
            "_from_file": case(f"{FILE} --seed 3", {}, plan_file()),
            "resume": case("autoresearch resume STUDY", {}, study_that(was_stopped)),
        },
        "autoresearch.cli.studies": {
            "status": case("autoresearch status"),
            "pause": case("autoresearch pause STUDY", {}, study),
            "stop": case("autoresearch stop STUDY", {}, study_that(was_stopped)),
        },
        "autoresearch.cli.ui": {
            "ui": case("autoresearch ui"),
            "_free": case("autoresearch ui --port PORT", MLFLOW, a_taken_port),
        },
        "autoresearch.design.seeds": {
            "allot": case(f"{SHOW} --plan", playbook("profiles: {quick: {pilot: 200}}")),
        },
        "autoresearch.planner.compose": {"compose": case(f"{ASK} --playbook base")},
        "autoresearch.planner.costing": {"costed": case(f"{ASK} --budget 1s")},
        "autoresearch.planner.course": {
            "course": case(ask("lr 1e-4 vs 1e-3 on 8 GPUs")),
            "_model#1": case(ask("Qwen3-4B vs Llama-3.2-3B")),
            "_model#2": case(ask("lr 1e-4 vs 1e-3 on Llama-3.2-1B")),
            "_task": case(ask("group size 4 vs 16 on sort and reverse")),
            "_reward": case(ask("rewards a.py:f and reward b.py:g, kl 0 vs 0.1")),
            "_data#1": case(ask("kl 0 vs 0.1 on a.jsonl and b.jsonl")),
            "_data#2": case(ask("GRPO vs RLOO on GSM8K")),
            "_evaluation#1": case(ask("lr 1e-4 vs 1e-3 by pass@4 and pass@8")),
            "_evaluation#2": case(ask("GRPO vs RLOO by avg@8", "--eval rows.jsonl,k=4")),
            "_evaluation#3": case(ask("GRPO vs RLOO, tested on AIME24")),
            "_evaluation#4": case(ask("GRPO vs RLOO, pass@8 at temperature 9")),
            "refuse_too_long": case(ask("group size 4 vs 16 at 32k context")),
        },
        "autoresearch.planner.offline": {
            "_algorithm": case(ask("gamma 0.9 vs 1 in GRPO")),
            "_refuse_idle": case(ask("warmup.lr 1e-4 vs 1e-3")),
        },
        "autoresearch.planner.fixed_settings": {
            "_held": case(ask("LoRA vs full finetuning, lr 1e-3 for both")),
            "_refuse_two_rewards": case(ask("does partial credit help?", "--reward exact")),
            "check_set#1": case(f"{ASK} --set seed=3"),
            "check_set#2": case(f"{ASK} --set algorithm.scale=none"),
            "substitute": case(f"{SHOW} --plan", playbook("train: {optim.eps: '${few}'}")),
            "_parameters#1": own_planner({"name": "group_size"}, parameters={"rolouts": 64}),
            "_parameters#2": case(ask("does group size matter with 5000 rollouts?")),
        },
        "autoresearch.planner.hypotheses": {
            "_metric": own_planner({"name": "group_size"}, metric="eval/ac"),
        },
        "autoresearch.planner.lint": {
            "require_clean": case(FILE, {}, plan_file(estimated_seconds=1e9)),
        },
        "autoresearch.planner.plan_file": {
            "write_plan#1": case(f"{ASK} --out playbooks", playbook("")),
            "write_plan#2": case(f"{ASK} --out none/plan.yaml"),
            "read_plan": case(FILE, {}, plan_file(arms=[])),
            "_require_known": case(FILE, {}, plan_file(planner="ofline")),
        },
        "autoresearch.planner.planners": {
            "planner_named#1": case(f"{ASK} --planner ofline"),
            "planner_named#2": case(f"{ASK} --planner none.py:plan"),
            "planner_named#3": case(f"{MINE}s", {"mine.py": "def plan(question):\n    pass\n"}),
            "_asked#1": case(MINE, {"mine.py": "def plan(question):\n    return 'GRPO'\n"}),
            "_asked#2": own_planner({"name": "group_size"}, changed="{'seed': -1}"),
            "_asked#3": own_planner({"name": "group_size"}, set={"optim.lr": 1e-4}),
            "_run#1": case(
                MINE,
                {"mine.py": "import time\ndef plan(question):\n    time.sleep(9)\n"},
                stands_in={"autoresearch.planner.planners.TIME_LIMIT": 0.1},
            ),
            "_run#2": case(MINE, {"mine.py": "def plan(question):\n    return 1 / 0\n"}),
        },
        "autoresearch.planner.planning": {
            "plan_study#1": case(ask(" ")),
            "plan_study#2": case(ask("\udcff group size")),
            "plan_study#3": case(f"{ASK} --set evaluation.every=1000"),
        },
        "autoresearch.planner.repairs": {
            "take_nearest_levels": own_planner({"name": "kl_coef", "levels": [20, 50]}),
            "widen_range": case(
                f"{SHOW} --plan",
                playbook("tuning: {factor: kl_coef, low: 0.001, high: 0.1}"),
            ),
            "add_requirement": case(ask("does the clip range matter?", "--set batch.epochs=1")),
        },
        "autoresearch.planner.sets_for": {
            "with_sets": case(f"{ASK} --eval reverse --eval reverse,k=2"),
            "_refuse_unlogged#1": own_planner({"name": "group_size"}, metric="eval/b/avg@1"),
            "_refuse_unlogged#2": own_planner(
                {"name": "group_size"},
                metric="eval/b/pass@8",
                evaluation=[{"ref": "sort", "name": "b", "k": 4}],
            ),
        },
        "autoresearch.planner.task_for": {
            "check_task#1": case(f"{ASK} --task data.txt"),
            "check_task#2": case(f"{ASK} --task chess"),
            "_require_rewards": case(ask("does reward shaping help?", "--task chain")),
            "_first_able": own_planner({"name": "reward_shaping", "levels": ["proxy", "format"]}),
        },
        "autoresearch.planner.treatments": {
            "_of_path": case(f"{ASK} --factor optim.eps=1e-8"),
            "select#1": own_planner(),
            "select#2": case(ask("do group size, learning rate and temperature matter?")),
            "_refuse_overlap": own_planner({"name": "full_weights"}, {"name": "learning_rate"}),
        },
        "autoresearch.playbook.document": {
            "_parse#1": case(SHOW, playbook("train: [")),
            "_parse#2": case(SHOW, {"playbooks/mine.yaml": b"schema: \xff"}),
            "_parse#3": case(SHOW, {"playbooks/mine.yaml": "- schema"}),
        },
        "autoresearch.playbook.library": {
            "Library.path#1": case("autoresearch playbook lint none.yaml"),
            "Library.path#2": case("autoresearch playbook lint kl-penaltie"),
            "_extends": case(SHOW, playbook("", extends="mine")),
        },
        "autoresearch.playbook.names": {
            "checked": case(f"{ASK} --playbook mine", playbook("primary: {metric: eval/ac}")),
        },
        "autoresearch.playbook.validate": {
            "validate#1": case(SHOW, {"playbooks/mine.yaml": "id: mine\n"}),
            "validate#2": case(SHOW, playbook("trian: {steps: 3}")),
            "validate#3": case(SHOW, playbook("", name="other")),
        },
        "autoresearch.run.study": {
            "_refuse_earlier_version": case(
                "autoresearch resume STUDY", {}, study_that(was_begun_by_an_earlier_version)
            ),
        },
        "autoresearch.study.database": {
            "_refuse_foreign": case("autoresearch list", {}, a_foreign_database),
            "connect#1": case("autoresearch list", {"home/runs/ledger.sqlite": "no database"}),
            "connect#2": case("autoresearch list", {}, a_newer_ledger),
        },
        "autoresearch.study.durations": {"parse_duration": case(f"{ASK} --budget 2x")},
        "autoresearch.study.home": {
            "Home.locate": case("autoresearch list", {}, a_home_in_a_circle),
            "Home.check_writable": case(f"autoresearch start '{TOPIC}'", {"home": ""}),
        },
        "autoresearch.study.ledger_rows": {
            "study_row#1": case("autoresearch status does-dividing-by-the-group", {}, study),
            "study_row#2": case("autoresearch status grpo"),
        },
        "autoresearch.study.options": {
            "parse_levels#1": case(f"{ASK} --factor optim.lr"),
            "parse_levels#2": case(f"{ASK} --factor optim.lr=1,2 --factor optim.lr=3,4"),
            "parse_levels#3": case(f"{ASK} --factor optim.lr=1,1"),
            "parse_evaluation#1": case(f"{ASK} --eval sort,kk=3"),
            "parse_evaluation#2": case(f"{ASK} --eval sort,k=0"),
            "_split": case(f"{ASK} --eval sort,,k=2"),
            "parse_seed": case(f"{ASK} --seed one"),
        },
        "autoresearch.topic.circumstances": {
            "circumstances#1": case(ask("lr 1e-4 vs 1e-3 for 2 epochs")),
            "circumstances#2": case(ask("lr 1e-4 vs 1e-3 with one seed")),
            "_seed": case(ask("lr 1e-4 vs 1e-3 with seeds 0, 1, 2")),
            "_steps": case(ask("lr 1e-4 for 100 vs 400 steps")),
            "_budget#1": case(ask("lr 1e-4 vs 1e-3, 24 GPU hours")),
            "_budget#2": case(ask("lr 1e-4 vs 1e-3, 45 min per run")),
            "_budget#3": case(ask("lr 1e-4 vs 1e-3 within 2 hours or 3 days")),
            "_precisions": case(ask("fp16 vs bf16")),
            "_refuse_equal": case(ask("GRPO vs PPO at equal wall-clock")),
        },
        "autoresearch.topic.judge": {
            "refuse_levels#1": case(ask("lr 1e-4 vs lr 1e-4")),
            "refuse_levels#2": case(ask("kl 0 vs 0.01, higher temperature")),
            "refuse_numbers": case(ask("does GRPO need 16 generations?")),
            "refuse_names": case(ask("group size 4 vs 16 with GiGPOX")),
            "refuse_sides#1": case(ask("GRPO vs banana")),
            "refuse_sides#2": case(ask("GRPO, bananas and RLOO")),
            "_refuse_alike": case(ask("high KL vs low KL")),
            "_refuse_unlike": case(ask("GRPO vs SFT")),
            "refuse_outweighed": case(ask("does noise scare cute furry little kittens")),
        },
        "autoresearch.topic.language": {
            "refuse_other_language": case(ask("hilft das KL bei GRPO?")),
        },
        "autoresearch.topic.levels": {"left_out": case(ask("PPO clip 0.2 vs no clip"))},
        "autoresearch.topic.measured": {
            "_every": case(ask("lr 1e-4 vs 1e-3, save a checkpoint every 20 steps")),
            "_at_k#1": case(ask("lr 1e-4 vs 1e-3 with greedy evaluation")),
            "_at_k#2": case(ask("lr 1e-4 vs 1e-3 by maj@16")),
            "_at_k#3": case(ask("lr 1e-4 vs 1e-3 by pass@k")),
        },
        "autoresearch.topic.methods": {"refuse_absent": case(ask("does REINFORCE work?"))},
        "autoresearch.topic.quantities": {
            "one_of": case(ask("lr 1e-4 vs 1e-3 with 2.5 seeds")),
            "single#1": case(ask("lr 1e-4 vs 1e-3 with 5 seeds and 8 seeds")),
            "single#2": case(ask("lr 1e-4 vs 1e-3 in 0 steps")),
        },
        "autoresearch.topic.read": {
            "_refuse_unequal": case(ask("batch size 64 vs 256 at equal rollouts")),
        },
        "autoresearch.topic.things": {
            "things#1": case(ask("lr 1e-4 vs 1e-3, trained on bananas")),
            "things#2": case(ask("vLLM vs SGLang rollouts")),
        },
        "autoresearch.topic.translate": {
            "in_own_words": case(ask("warmup_ratio 0 vs 0.1")),
            "_values": case(ask("adv_estimator=magic vs grpo")),
            "_meaning#1": case(ask("loss_type bnpo vs dr_grpo")),
            "_meaning#2": case(ask("loss_type dapo vs token-mean")),
        },
        "autoresearch.topic.playbook_for": {
            "playbook_for#1": case(ask("?!")),
            "playbook_for#2": case(ask("best pancake recipe")),
            "_refuse_everyday": case(ask("temperature in Rome")),
        },
    }
)

#: Places that no command line leads to, and why.
OUT_OF_REACH: Mapping[str, str] = {
    "autoresearch.design.arms:build_arms#1": "`select` has refused a question without a factor",
    "autoresearch.design.arms:build_arms#2": "an Intent and a playbook name a factor once",
    "autoresearch.design.arms:build_arms#3": "a single level is compared with the control",
    "autoresearch.design.arms:_labelled#1": "an Intent and a playbook name a level once",
    "autoresearch.design.arms:_labelled#2": "the control of both is one of the levels",
    "autoresearch.study.ledger:Ledger._refuse_change": "commands register a plan once",
}
