"""A study whose attempt folders are real files with made-up learning curves."""

import json
import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from autoresearch.analysis.claims import ClaimSet
from autoresearch.analysis.claims import claims_of as claims_of_evidence
from autoresearch.analysis.evidence import Evidence
from autoresearch.design.seeds import allot
from autoresearch.study.facts import AttemptFacts, StudyFacts, TrialFacts
from autoresearch.study.home import Home
from autoresearch.study.ledger import Ledger
from autoresearch.study.plan import Arm, Budget, Factor, Hypothesis, Phase, Plan, Profile, Tuning
from autoresearch.study.rules import Decision
from autoresearch.study.trial import TrialSpec
from swarm.config.parts import BatchSettings, EvalSet, EvalSettings, OptimSettings, TaskSettings
from swarm.config.train import TrainConfig
from swarm.disk.folder import METRICS, RunResult, RunWriter

STUDY = "adv-std-7c1e"
STARTED = 1_790_000_000.0
CONTROL, TREATMENT, BATCH = "adv_std-group", "adv_std-none", "adv_std-batch"
SCALES = {"group": "group_std", "none": "none", "batch": "batch_std"}


@dataclass(frozen=True)
class Shape:
    """What a synthetic study looks like. Cells are (phase, arm, seed)."""

    gains: Mapping[str, float] = field(default_factory=lambda: {CONTROL: 0.30, TREATMENT: 0.42})
    seed_sd: float = 0.015
    tasks: tuple[str, ...] = ("reverse",)
    profile: Profile = "quick"
    metric: str = "eval/acc"
    length_hypothesis: bool = False
    levels: tuple[str, ...] = ("group", "none")
    failed: tuple[tuple[str, str, int], ...] = (("confirm", CONTROL, 7204),)
    diverged: tuple[tuple[str, str, int], ...] = (("tuning", CONTROL, 7100),)
    lost: tuple[tuple[str, str, int], ...] = (("confirm", TREATMENT, 7201),)
    digest: str = ""  # of the user's own rows
    sets: tuple[EvalSet, ...] = ()


#: A study of the smallest size, in which all goes well.
SMALL = Shape(profile="smoke", failed=(), diverged=(), lost=())


def make_plan(shape: Shape) -> Plan:
    exploratory = shape.profile != "full"
    hypotheses = [
        Hypothesis(
            id="H1",
            statement="Dropping the group std from the advantage raises held-out accuracy.",
            metric=shape.metric,
            arm=TREATMENT,
            versus=CONTROL,
            direction="greater",
            min_effect=0.03,
            source="arXiv:2503.20783",
        )
    ]
    if shape.length_hypothesis:
        hypotheses.append(
            Hypothesis(
                id="H2",
                statement="Dropping the group std shortens wrong answers.",
                metric="completions/mean_length_wrong",
                arm=TREATMENT,
                versus=CONTROL,
                direction="less",
                min_effect=0.5,
            )
        )
    smoke = shape.profile == "smoke"
    return Plan(
        topic="does dividing by the group std matter in GRPO?",
        question="Does dividing group advantages by their standard deviation change GRPO?",
        planner="offline",
        playbook="advantage-std",
        profile=shape.profile,
        hypotheses=tuple(hypotheses),
        factors=(
            Factor(
                name="adv_std",
                role="treatment",
                levels=shape.levels,
                control="group",
                sets=("algorithm.scale",),
                values={level: {"algorithm.scale": SCALES[level]} for level in shape.levels},
            ),
        ),
        arms=tuple(Arm(id=f"adv_std-{level}", levels={"adv_std": level}) for level in shape.levels),
        tasks=shape.tasks,
        model="tiny",
        train=TrainConfig(
            steps=60,
            batch=BatchSettings(rollouts=128, group_size=8),
            optim=OptimSettings(lr=1e-3),
            evaluation=EvalSettings(every=10, prompts=512, sets=shape.sets),
            task=TaskSettings(digest=shape.digest),
        ),
        seeds=allot(7, pilot=2 if smoke else 3, tuning=1, confirm=2 if smoke else 5),
        tuning=Tuning(
            factor="lr", path="optim.lr", low=2e-4, high=5e-3, candidates=2 if smoke else 3
        ),
        decision=Decision(looks=(2,) if smoke else (5,), exploratory=exploratory),
        budget=Budget(seconds=600, trial_seconds=120),
        metrics=(
            "reward/mean",
            "policy/entropy",
            "completions/mean_length",
            "completions/mean_length_wrong",
        ),
        estimated_seconds=420.0,
        estimated_trial_seconds=38.0,
        notes=("Findings hold for a model of 0.8 M parameters.",),
    )


def make_study(home: Home, shape: Shape | None = None) -> StudyFacts:
    """A finished study with pilot, tuning and confirmation, and its folders under `home`."""
    shape = shape or Shape()
    plan = make_plan(shape)
    cells: list[tuple[Phase, str, int, float, str]] = [
        ("pilot", CONTROL, seed, 1e-3, "") for seed in plan.seeds.pilot
    ]
    assert plan.tuning is not None
    values = [1e-3, 4e-4, 4e-3][: plan.tuning.candidates]
    for index, lr in enumerate(values):
        cells += [
            ("tuning", arm.id, seed, lr, f"candidate-{index}")
            for arm in plan.arms
            for seed in plan.seeds.tuning
        ]
    cells += [
        ("confirm", arm.id, seed, 1e-3, "") for seed in plan.seeds.confirm for arm in plan.arms
    ]
    trials = [
        _make_trial(home, plan, shape, position, *cell, task=task)
        for position, (cell, task) in enumerate((c, t) for c in cells for t in plan.tasks)
    ]
    return StudyFacts(
        study=STUDY,
        topic=plan.topic,
        stage="report",
        status="running",
        created_at=STARTED,
        plan=plan,
        registration=plan.digest(),
        registered_at=STARTED + 4.0,
        records={
            "size": {"n": plan.decision.looks[-1], "looks": list(plan.decision.looks)},
            "tuning": {"path": "optim.lr", "value": 1e-3, "candidates": []},
            "fingerprint": {
                "python": "3.11.9",
                "torch": "2.13.0",
                "cpu": "AVX2",
                "threads": 1,
                "trainer": "ab" * 32,
                "model": "tiny 0.8M",
            },
            "full": {
                "command": f'autoresearch start "{plan.topic}" --profile full --seed 7',
                "trials": 41,
                "seconds": 5400.0,
            },
        },
        trials=tuple(trials),
        events=(
            {"time": STARTED + 90, "kind": "trial started", "detail": {}},
            {
                "time": STARTED + 95,
                "kind": "alarm",
                "detail": {
                    "trial": trials[0].spec.id,
                    "arm": trials[0].spec.arm,
                    "seed": trials[0].spec.seed,
                    "alarm": "zero-spread",
                    "step": 21,
                    "value": 0.7,
                    "cause": "no reward spread in many groups",
                },
            },
            {
                "time": STARTED + 96,
                "kind": "deviation",
                "detail": {"text": "the budget of 600 s was raised to 900 s", "seconds": 900},
            },
        ),
    )


def _make_trial(
    home: Home,
    plan: Plan,
    shape: Shape,
    position: int,
    phase: Phase,
    arm: str,
    seed: int,
    lr: float,
    label: str,
    task: str,
) -> TrialFacts:
    config = plan.train_config(arm, task, seed, {"optim.lr": lr})
    spec = TrialSpec(
        study=STUDY,
        phase=phase,
        round=1,
        arm=arm,
        task=task,
        seed=seed,
        config=config,
        registration=plan.digest(),
        label=label,
    )
    attempts: list[AttemptFacts] = []
    started = STARTED + 20 + 20.0 * position
    cell = (phase, arm, seed)
    if cell in shape.failed:
        for number in (1, 2, 3):
            folder = home.attempt(STUDY, spec.id, number)
            writer = RunWriter(folder)
            _write_rows(writer, spec, shape, until=8)
            attempts.append(
                AttemptFacts(
                    number,
                    folder,
                    "failed",
                    "RuntimeError: the worker was killed (out of memory)",
                    seconds=6.0,
                    started_at=started + 6.0 * number,
                )
            )
        return TrialFacts(spec, "failed", tuple(attempts))
    if cell in shape.lost:
        folder = home.attempt(STUDY, spec.id, 1)
        _write_rows(RunWriter(folder), spec, shape, until=25)
        attempts.append(
            AttemptFacts(1, folder, "lost", "driver ended", seconds=15.0, started_at=started)
        )
    diverges = cell in shape.diverged and (phase != "tuning" or label == "candidate-2")
    number = len(attempts) + 1
    folder = home.attempt(STUDY, spec.id, number)
    writer = RunWriter(folder)
    (folder / "config.yaml").write_text(json.dumps(config.model_dump(mode="json")))
    writer.event("started")
    _write_rows(writer, spec, shape, until=33 if diverges else config.steps, diverges=diverges)
    status = "diverged" if diverges else "finished"
    cause = "loss was NaN at step 33" if diverges else ""
    manifest = writer.seal(RunResult(status, 33 if diverges else config.steps, 34.2, cause))
    attempts.append(AttemptFacts(number, folder, status, cause, manifest, 36.0 + seed % 5, started))
    return TrialFacts(spec, status, tuple(attempts))


def _write_rows(
    writer: RunWriter, spec: TrialSpec, shape: Shape, until: int, diverges: bool = False
) -> None:
    """Learning curves that rise to 0.3 + gain, worse away from a learning rate of 1e-3."""
    rng = random.Random(f"{spec.phase}-{spec.arm}-{spec.task}-{spec.seed}-{spec.label}")
    miss = abs(math.log10(spec.config.optim.lr / 1e-3))
    gain = shape.gains[spec.arm] * (1 - 0.6 * miss) + rng.gauss(0, shape.seed_sd)
    pace = rng.uniform(0.9, 1.1)
    for step in range(until + 1):
        level = 0.3 + gain * (1 - math.exp(-4 * step / spec.config.steps))
        reward = level + rng.gauss(0, 0.03)
        values = {
            "reward/mean": reward,
            "policy/entropy": 1.1 - 0.8 * (level - 0.3) + rng.gauss(0, 0.01),
            "completions/mean_length": 6.0 + rng.gauss(0, 0.1),
            "completions/mean_length_wrong": (
                math.nan if rng.random() < 0.1 else 9.0 - 4 * gain + rng.gauss(0, 0.2)
            ),
            "tokens/prompt": 1200.0,
            "tokens/completion": 800.0,
            "tokens/trained": 800.0,
            "time/rollout": 0.31,
            "time/learn": 0.2,
        }
        if step == 0:
            values = {}
        if diverges and step == until:
            values["loss/policy"] = math.nan
        if step % spec.config.evaluation.every == 0:
            values["eval/acc"] = round((level + rng.gauss(0, 0.006)) * 512) / 512
        writer.metrics(step, pace * 0.55 * step, values)
    writer.rollout({"step": until, "prompt": "abc", "completion": "cba", "reward": 1.0})


def enter_in_ledger(facts: StudyFacts, home: Home) -> None:
    """Write a study into the real ledger of `home`; attempts start at the time of writing."""
    assert facts.plan is not None
    ledger = Ledger.open(home)
    with ledger.hold(facts.study):
        ledger.create_study(facts.study, facts.topic, {})
        ledger.register(facts.study, facts.plan)
        for kind, payload in facts.records.items():
            ledger.record(facts.study, kind, payload)
        ledger.insert_trials([trial.spec for trial in facts.trials])
        for trial in facts.trials:
            for attempt in trial.attempts:
                started = ledger.start_attempt(facts.study, trial.spec.id)
                ended = replace(attempt, started_at=started.started_at)
                ledger.end_attempt(facts.study, trial.spec.id, ended, trial.status)
    ledger.close()


def confirm_scores(facts: StudyFacts, arm: str) -> list[float]:
    """The registered score by hand: the mean of the last three evaluations."""
    found = []
    for trial in facts.of_phase("confirm"):
        if trial.spec.arm == arm:
            assert trial.folder is not None
            rows = map(json.loads, (trial.folder / METRICS).read_text().splitlines())
            values = [r["metrics"]["eval/acc"] for r in rows if "eval/acc" in r["metrics"]]
            found.append(float(np.mean(values[-3:])))
    return found


def compute(facts: StudyFacts) -> ClaimSet:
    """All claims of a study."""
    return claims_of_evidence(Evidence(facts))


def claims_of(home: Path, shape: Shape) -> ClaimSet:
    return compute(make_study(Home(home), shape))
