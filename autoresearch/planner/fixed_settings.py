"""What a plan holds fixed: the playbook's settings, the question's, the user's, and repairs."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autoresearch.catalogue import factor
from autoresearch.planner.repairs import add_requirement, fit_rollouts, listed
from autoresearch.planner.treatments import Treatment
from autoresearch.playbook import Playbook
from autoresearch.playbook.schema import ProfileSettings
from autoresearch.study.intent import Intent
from autoresearch.study.plan import Factor
from swarm.algorithms import DATA
from swarm.config.base import JsonValue
from swarm.config.checked import check_value, configure
from swarm.config.train import TrainConfig
from swarm.errors import Refusal, did_you_mean

#: Paths that have an option of their own.
_OPTIONS: Mapping[str, str] = {
    "seed": "--seed",
    "model.ref": "--model",
    "task.ref": "--task",
    "task.digest": "--task",
}
_PARAMETER = re.compile(r"\$\{([a-z][a-z0-9_-]*)\}")
_PRESET = "algorithm.name"
_STEPS, _EVERY, _SAVED = "steps", "evaluation.every", "checkpoint_every"
_OTHER_LEVELS = "ask for other levels, or use --set"


@dataclass(frozen=True)
class FixedSettings:
    """The control arm's config, the factors as the plan holds them, and notes.

    `chosen` are the paths that the topic or the user fixes: nothing may move them.
    """

    train: TrainConfig
    factors: tuple[Factor, ...]
    chosen: frozenset[str]
    notes: tuple[str, ...]


def fix_settings(
    playbook: Playbook, profile: ProfileSettings, intent: Intent, treatments: Sequence[Treatment]
) -> FixedSettings:
    """Fix everything that no treatment varies.

    The user's `--set` wins over the topic, the topic over the profile, that over the playbook.
    Raises Refusal for a setting that does not exist or fit, that is under test, or that keeps a
    factor from acting; NeedsRepair where another setting would let it act.
    """
    check_set(intent.set, treatments)
    _refuse_two_rewards(intent, treatments)
    fixed: dict[str, JsonValue] = {"model.ref": intent.model or playbook.model}
    fixed |= substitute({**playbook.train, **profile.train}, _parameters(playbook, intent))
    held = {**_lengths(playbook, fixed, intent), **_held(intent, treatments)}
    follow = {path for path in (_EVERY, _SAVED) if path in held} if intent.steps else set()
    follow -= {_EVERY} if intent.eval_every else set()
    said = {path: value for path, value in held.items() if path not in follow}
    fixed |= held
    fixed |= intent.set
    notes = [f"held fixed as the topic says: {listed(said)}"] if said else []
    notes += (
        [f"follows from the steps: {listed({p: held[p] for p in held if p in follow})}"]
        if follow
        else []
    )
    notes += [
        f"--set {path}={intent.set[path]} wins over the topic's {value}"
        for path, value in held.items()
        if intent.set.get(path, value) != value
    ]
    notes += _let_all_act(fixed, treatments, {**held, **intent.set}, intent)
    for treatment in treatments:
        fixed |= treatment.factor.assign(treatment.control)
    train = configure(TrainConfig(), fixed, _who_fixes(intent))
    return FixedSettings(
        train=train,
        factors=tuple(_factor(t, fixed) for t in treatments),
        chosen=frozenset((*held, *intent.set)),
        notes=tuple(notes),
    )


def _refuse_two_rewards(intent: Intent, treatments: Sequence[Treatment]) -> None:
    by_arm = next((t for t in treatments if "task.reward" in t.factor.paths), None)
    if intent.reward is not None and by_arm is not None:
        raise Refusal(
            "reward",
            f"{intent.reward} is for every arm, and {by_arm.name} is under test",
            f"compare them: --factor task.reward={intent.reward},exact",
        )


def check_set(values: Mapping[str, JsonValue], treatments: Sequence[Treatment]) -> None:
    """Raise Refusal for a `--set` that does not fit, has its own option, or is under test."""
    for path, value in values.items():
        check_value(path, value, "set")
        if path in _OPTIONS:
            raise Refusal("set", f"{path} has an option of its own", f"use {_OPTIONS[path]}")
        for treatment in treatments:
            if path in treatment.factor.paths:
                raise Refusal(
                    "set",
                    f"{path} is under test (factor {treatment.name})",
                    "drop this --set, or ask about another factor",
                )


def substitute(
    values: Mapping[str, JsonValue], parameters: Mapping[str, JsonValue]
) -> dict[str, JsonValue]:
    """The values with `${name}` replaced. Raises Refusal for an unknown parameter."""
    filled: dict[str, JsonValue] = {}
    for path, value in values.items():
        match = _PARAMETER.fullmatch(value) if isinstance(value, str) else None
        if match and match[1] not in parameters:
            raise Refusal(
                "playbook", f"{path} uses {value}, which is not a parameter", "declare it"
            )
        filled[path] = parameters[match[1]] if match else value
    return filled


def _parameters(playbook: Playbook, intent: Intent) -> dict[str, JsonValue]:
    """Each parameter's value: the intent's, else its default. Raises Refusal outside its range."""
    values: dict[str, JsonValue] = {}
    if unknown := sorted(intent.parameters.keys() - playbook.params.keys()):
        raise Refusal(
            "parameters",
            f"playbook {playbook.id} has no {unknown[0]}",
            did_you_mean(unknown[0], playbook.params),
        )
    for name, parameter in playbook.params.items():
        try:
            values[name] = parameter.value(intent.parameters.get(name, parameter.default))
        except ValueError as error:
            raise Refusal("topic", f"{name}: {error}", "type another number") from None
    return values


def _who_fixes(intent: Intent) -> str:
    """The field to change where settings do not fit: the nearest to the user."""
    if intent.set:
        return "set"
    return "topic" if intent.held or intent.algorithm or intent.parameters else "playbook"


def _lengths(
    playbook: Playbook, fixed: Mapping[str, JsonValue], intent: Intent
) -> dict[str, JsonValue]:
    """The reward, steps and evaluations that are asked for. Evaluations keep their distance in
    shares of a run, and there are as many as a score averages."""
    values: dict[str, JsonValue] = {}
    if intent.reward is not None:
        values["task.reward"] = intent.reward
    usual = TrainConfig().with_values(
        {path: fixed[path] for path in (_STEPS, _EVERY, _SAVED) if path in fixed}
    )
    if intent.steps is not None:
        share = intent.steps / usual.steps
        most = max(1, intent.steps // playbook.decision.last_evals)
        values[_STEPS] = intent.steps
        values[_EVERY] = min(most, max(1, round(usual.evaluation.every * share)))
        values[_SAVED] = max(1, round(usual.checkpoint_every * share))
    if intent.eval_every is not None:
        values[_EVERY] = intent.eval_every
    return values


def _held(intent: Intent, treatments: Sequence[Treatment]) -> dict[str, JsonValue]:
    """Settings that the question holds fixed: `with group size 4`, `in RLOO`."""
    under_test = {path for t in treatments for path in t.factor.paths}
    values: dict[str, JsonValue] = {}
    for name, level in intent.held.items():
        known = factor(name)
        by_arm = next((t for t in treatments if known.paths <= t.factor.paths), None)
        if by_arm is not None and by_arm.name != name:
            raise Refusal(
                "topic",
                f"it fixes {name}, and each level of {by_arm.name} has a value of its own for it",
                f"ask about {by_arm.name} alone, or about the path: {by_arm.factor.sets[0]}",
            )
        values |= known.assign(known.check(level))
    # GRPO alone is the family's name: the base recipe stands for it.
    if intent.algorithm and intent.algorithm != "grpo":
        values |= {_PRESET: intent.algorithm, "algorithm.kl_coef": 0.0}
    return {path: value for path, value in values.items() if path not in under_test}


def _let_all_act(
    fixed: dict[str, JsonValue],
    treatments: Sequence[Treatment],
    chosen: Mapping[str, JsonValue],
    intent: Intent,
) -> list[str]:
    """Put the repairs made so far into `fixed`; their notes. Raises NeedsRepair for the next
    one."""
    notes = []
    if fitted := intent.repair("fit the rollouts to the groups", "batch.rollouts"):
        fixed |= fitted.settings
        notes.append(fitted.note)
    fit_rollouts(fixed, treatments, chosen)
    for treatment in treatments:
        others = [t for t in treatments if t is not treatment]
        for requirement in treatment.factor.requires:
            about = f"{treatment.name} {requirement.code}"
            if added := intent.repair("add a requirement", about):
                fixed |= added.settings
                notes.append(added.note)
                continue
            base = configure(TrainConfig(), fixed, _who_fixes(intent))
            acting = [
                requirement.holds(configure(base, v, "topic", _OTHER_LEVELS))
                for v in _levels(others)
            ]
            if not any(acting):
                add_requirement(treatment, requirement, others, chosen)
            elif not all(acting):
                notes.append(f"{treatment.name} acts in some arms only: {requirement.reason}")
    return notes


def _levels(treatments: Sequence[Treatment]) -> list[dict[str, JsonValue]]:
    """The paths of every level of every treatment; of none, one empty set."""
    return [t.factor.assign(level) for t in treatments for level in t.levels] or [{}]


def _factor(treatment: Treatment, fixed: Mapping[str, JsonValue]) -> Factor:
    """The factor as the plan holds it. Setting `algorithm.name` resets the rest of `algorithm` and
    what presets set of `data`, so each of its levels repeats what is fixed of these."""
    plan_factor = treatment.factor.treatment(treatment.levels, treatment.control)
    if _PRESET not in treatment.factor.sets:
        return plan_factor
    reset = {f"data.{name}" for fields in DATA.values() for name in fields}
    pinned = {
        p: v
        for p, v in fixed.items()
        if p != _PRESET and (p.startswith("algorithm.") or p in reset)
    }
    values = {str(level): {_PRESET: level, **pinned} for level in treatment.levels}
    return plan_factor.model_copy(update={"values": values}) if pinned else plan_factor
