"""Valid small plans: one by hand with any field replaced, and those that a topic leads to."""

from collections.abc import Mapping, Sequence
from typing import Any

from autoresearch.study.plan import Arm, Budget, Factor, Hypothesis, Plan, Seeds
from autoresearch.study.rules import Decision
from autoresearch.study.trial import TrialSpec
from swarm.config.train import TrainConfig

TOPIC = "does dividing by the group std matter in GRPO?"
LOOKS = (5, 10, 15)

#: Rows of a task of the user's own that `tiny` can write.
OWN_ROWS = [{"prompt": f"R:{a}{b}>", "answer": b + a} for a in "abcdefgh" for b in "abcdefgh"]


def hypothesis(**fields: Any) -> Hypothesis:
    """A claim that the arm `b` is better than `a`; any field can be given."""
    usual: Mapping[str, Any] = {
        "id": "H1",
        "statement": "b is better than a",
        "metric": "eval/acc",
        "arm": "b",
        "versus": "a",
        "direction": "greater",
        "min_effect": 0.03,
    }
    return Hypothesis(**{**usual, **fields})


def small_plan(**fields: Any) -> Plan:
    """Two arms, `a` and `b`, on one task; any field can be given."""
    usual: Mapping[str, Any] = {
        "topic": TOPIC,
        "question": "does the std matter?",
        "planner": "offline",
        "playbook": "advantage-std",
        "profile": "smoke",
        "hypotheses": (hypothesis(),),
        "factors": (Factor(name="std", role="treatment", levels=("a", "b"), control="a"),),
        "arms": (Arm(id="a", levels={"std": "a"}), Arm(id="b", levels={"std": "b"})),
        "tasks": ("reverse",),
        "model": "tiny",
        "train": TrainConfig(),
        "seeds": Seeds(pilot=(1,), tuning=(2,), confirm=(3, 4)),
        "budget": Budget(seconds=600, trial_seconds=60),
        "metrics": ("reward/mean",),
        "estimated_seconds": 60,
        "estimated_trial_seconds": 10,
    }
    return Plan(**{**usual, **fields})


def claim(
    direction: str = "greater",
    arm: str = "b",
    versus: str = "a",
    min_effect: float = 0.05,
    metric: str = "eval/acc",
) -> Hypothesis:
    return hypothesis(
        id=f"{arm}-{direction}-{versus}",
        statement=f"{arm} is {direction} than {versus}",
        metric=metric,
        arm=arm,
        versus=versus,
        direction=direction,
        min_effect=min_effect,
    )


def comparison(
    *hypotheses: Hypothesis,
    looks: Sequence[int] = LOOKS,
    tasks: Sequence[str] = ("sort",),
    profile: str = "full",
    **decision: Any,
) -> Plan:
    """Four arms under the given rules of decision; confirmation seeds are 200, 201, …"""
    arms = ("a", "b", "c", "d")
    return small_plan(
        profile=profile,
        hypotheses=hypotheses or (claim(),),
        factors=(Factor(name="lr", role="treatment", levels=arms, sets=("optim.lr",)),),
        arms=tuple(Arm(id=arm, levels={"lr": arm}) for arm in arms),
        tasks=tuple(tasks),
        seeds=Seeds(pilot=(), tuning=(), confirm=tuple(range(200, 200 + looks[-1]))),
        decision=Decision(looks=tuple(looks), **decision),
    )


def trial_spec(seed: int, **fields: Any) -> TrialSpec:
    """A confirmation trial of arm `a`; any field can be given."""
    usual: Mapping[str, Any] = {
        "study": "s1",
        "phase": "confirm",
        "round": 1,
        "arm": "a",
        "task": "reverse",
        "seed": seed,
        "config": TrainConfig(seed=seed),
        "registration": "r",
    }
    return TrialSpec(**{**usual, **fields})


def intent_for(topic: str, **options: object) -> Any:
    """The Intent that the offline planner makes of a topic, from built-in playbooks alone."""
    from autoresearch.planner.offline import intent_of
    from autoresearch.planner.seam import Question
    from autoresearch.playbook import Library
    from autoresearch.playbook.library import BUILT_IN
    from autoresearch.study.options import StartOptions

    chosen = StartOptions.model_validate({"topic": topic, **options})
    return intent_of(Question(chosen, Library((("built-in", BUILT_IN),)), ()))


def plan_for(topic: str = TOPIC, **options: object) -> Plan:
    """The plan that a topic and the options of `start` lead to, from built-in playbooks alone."""
    # Imported here: drivers in processes of their own start without a planner.
    from autoresearch.planner.planning import plan_study
    from autoresearch.playbook import Library
    from autoresearch.playbook.library import BUILT_IN
    from autoresearch.study.options import StartOptions

    chosen = StartOptions.model_validate({"topic": topic, **options})
    return plan_study(chosen, Library((("built-in", BUILT_IN),))).plan
