"""From topics to plans, as a new user would type them."""

import shutil
from pathlib import Path

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from support.plans import plan_for

from autoresearch.catalogue import FACTORS
from autoresearch.catalogue.factor import phrases
from autoresearch.planner.planning import plan_study
from autoresearch.playbook import Library
from autoresearch.playbook.library import BUILT_IN
from autoresearch.study.options import StartOptions
from swarm.config.checked import known_paths
from swarm.errors import Refusal

STD = ("advantage-std", {"advantage_std": "group_std"}, "eval/acc")
RANK = ("lora-rank", {"lora_rank": 8}, "eval/acc")
ALGORITHMS = ("estimators", {"algorithm": "grpo"}, "eval/acc")
SFT = ("sft-warmup", {"sft_warmup": 0}, "eval/acc")
CLIP = ("clip-higher", {"clip_higher": 0.2, "updates_per_batch": 4}, "policy/entropy")
GROUP = ("group-size", {"group_size": 8}, "eval/acc")
GROUP_4 = ("group-size", {"group_size": 4}, "eval/acc")
GROUP_2 = ("group-size", {"group_size": 2}, "eval/acc")
LENGTH = (
    "length-bias",
    {"loss_aggregation": "sequence_mean", "advantage_std": "group_std"},
    "completions/mean_length_wrong",
)
NOISE = ("noise-floor", {"replicate": "a"}, "eval/acc")
RATE_BATCH = ("factor-sweep", {"learning_rate": 1e-3, "batch_size": 128}, "eval/acc")
KL = ("kl-penalty", {"kl_coef": 0.0}, "eval/acc")
TIS = ("factor-sweep", {"correction": "none"}, "eval/acc")
DYNAMIC = ("factor-sweep", {"difficulty_filter": "none"}, "eval/acc")

TOPICS = {
    "does dividing by the group std matter in GRPO?": STD,
    "should I normalise advantages by their standard deviation?": STD,
    "Is advantage normalization needed for GRPO or is centering enough?": STD,
    "GRPO with and without std normalization": STD,
    "Do we need to divide the group-relative advantage by sigma?": STD,
    "does dividing group advantages by their std help GRPO?": STD,
    "best lora rank for RL": RANK,
    "which adapter rank should I use for GRPO fine-tuning?": RANK,
    "is rank 1 enough for RL?": RANK,
    "rank 1, 8 and 64": RANK,
    "Does a higher LoRA rank help reinforcement learning?": RANK,
    "GRPO vs RLOO vs REINFORCE++": ALGORITHMS,
    "Compare RLOO, Dr. GRPO and GRPO": ALGORITHMS,
    "is RLOO better than GRPO?": ALGORITHMS,
    "which policy gradient estimator should I use for RLVR?": ALGORITHMS,
    "reinforce++ or grpo": ALGORITHMS,
    "is GSPO better than GRPO?": ALGORITHMS,
    "DAPO against GRPO": ALGORITHMS,
    "does PPO with a critic beat GRPO?": ALGORITHMS,
    "GRPO, CISPO, MaxRL or DPPO": ALGORITHMS,
    "is online DPO worse than GRPO?": ALGORITHMS,
    "does TIS help under staleness?": TIS,
    "truncated importance sampling with stale rollouts of 4 versions": TIS,
    "IcePop or TIS under asynchronous training?": (
        "factor-sweep",
        {"correction": "icepop"},
        "eval/acc",
    ),
    "does dynamic sampling help?": DYNAMIC,
    "dynamic sampling vs no filter in GRPO": DYNAMIC,
    "how much SFT before RL": SFT,
    "does a cold start with supervised fine-tuning help RL?": SFT,
    "effect of SFT warm-up steps on GRPO": SFT,
    "How long should the supervised warmup be before RL training?": SFT,
    "0, 20 or 200 SFT steps before RL": SFT,
    "does clip-higher stop entropy collapse": CLIP,
    "Does raising the upper clip bound prevent entropy collapse?": CLIP,
    "DAPO's clip-higher: does it keep entropy up?": CLIP,
    "clip-higher x updates per batch": CLIP,
    "what prevents entropy collapse in GRPO?": CLIP,
    "is group size 16 better than 4 at the same rollouts": GROUP_4,
    "group size 4 vs 16": GROUP_4,
    "how many samples per prompt does GRPO need?": GROUP,
    "does a larger group size help with a fixed number of completions?": GROUP,
    "G=2 or G=16 at equal steps?": GROUP_2,
    "are 8 generations per prompt better than 2?": GROUP_2,
    "length bias of GRPO": LENGTH,
    "does GRPO make wrong answers longer?": LENGTH,
    "is the GRPO loss biased towards long responses?": LENGTH,
    "response length bias from loss normalization and std": LENGTH,
    "how noisy are my RL runs": NOISE,
    "what is the noise floor of RL training?": NOISE,
    "how much do results vary between seeds?": NOISE,
    "A/A test of the pipeline": NOISE,
    "how many seeds do I need for an RL experiment?": NOISE,
    "learning rate and batch size": RATE_BATCH,
    "lr x batch size": RATE_BATCH,
    "does the best learning rate depend on the batch size?": RATE_BATCH,
    "step size and number of rollouts": RATE_BATCH,
    "KL penalty: needed at all?": KL,
    "do I need a KL term in RLVR?": KL,
    "GRPO without KL": KL,
    "beta = 0 vs beta = 0.04": KL,
    "is the reference model KL useful?": KL,
}


@pytest.mark.parametrize(("topic", "expected"), TOPICS.items(), ids=TOPICS)
def test_a_topic_leads_to_its_factors_control_and_metric(
    topic: str, expected: tuple[str, dict[str, object], str]
) -> None:
    drafted = plan_for(topic)
    playbook, control, metric = expected
    assert drafted.playbook == playbook
    assert {f.name: f.control for f in drafted.treatments} == control
    assert drafted.hypotheses[0].metric == metric
    assert drafted.arms[0].levels == control
    assert drafted.topic == topic


@pytest.mark.parametrize(
    ("topic", "message"),
    [
        ("GRPO vs REINFORCE", "REINFORCE.*no preset"),
        ("rank 1000", "whole number from 1 to 512"),
        ("group size, KL and temperature", "3 factors"),
        ("group size 1", "group_size of 2 or more"),
    ],
)
def test_what_cannot_be_run_is_refused(topic: str, message: str) -> None:
    with pytest.raises(Refusal, match=message):
        plan_for(topic)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"playbook": "group-sise"}, "did you mean group-size"),
        ({"playbook": "base"}, "only there to be extended"),
        ({"task": "revers"}, "did you mean reverse"),
        ({"set": {"optim.lrr": 1}}, "did you mean optim.lr"),
        ({"set": {"lr": 1}}, "did you mean optim.lr"),
        ({"set": {"batch.group_size": 4}}, "under test"),
        ({"set": {"seed": 4}}, "use --seed"),
        ({"set": {"optim.lr": -1}}, "optim.lr: .*greater than 0"),
        ({"set": {"batch.rollouts": 100}}, "not a multiple of group_size"),
        ({"budget_seconds": 30.0}, "budget: the plan takes about"),
    ],
)
def test_options_that_no_plan_can_follow(options: dict[str, object], message: str) -> None:
    with pytest.raises(Refusal, match=message):
        plan_for("group size 4 vs 16", **options)


def test_a_set_value_that_keeps_a_factor_from_acting_is_refused() -> None:
    with pytest.raises(Refusal, match="PB401"):
        plan_for("does the clip range matter?", set={"batch.epochs": 1})


def test_a_forced_playbook_keeps_its_factors() -> None:
    drafted = plan_for("does the learning rate matter?", playbook="noise-floor")
    assert drafted.playbook == "noise-floor"
    assert [f.name for f in drafted.treatments] == ["replicate"]
    assert any("learning_rate is named but not under test" in note for note in drafted.notes)
    with pytest.raises(Refusal, match="needs a factor"):
        plan_for("does it matter?", playbook="factor-sweep")


def test_a_broken_playbook_nearby_is_left_out_and_named(tmp_path: Path) -> None:
    shutil.copy(BUILT_IN / "group-size.yaml", tmp_path / "mine.yaml")
    library = Library((("project", tmp_path), ("built-in", BUILT_IN)))
    topic = "group size 4 vs 16"
    drafted = plan_study(StartOptions(topic=topic), library).plan
    assert drafted.playbook == "group-size"
    assert any("mine.yaml" in note and "PB006" in note for note in drafted.notes)


WORDS = "GRPO RLOO PPO vs or than better with at , 0 1 4 16 0.2 1e-3 steps rollouts entropy"
PHRASES = [
    *(alias for known in FACTORS.values() for alias in phrases(known.aliases)),
    *(w for known in FACTORS.values() for text in known.words.values() for w in phrases(text)),
    *WORDS.split(),
]
VALUES = st.sampled_from([0, 1, -1, 0.5, 64, True, None, "none", "group", "rloo", "full"])


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.sampled_from(PHRASES), min_size=1, max_size=6),
    st.dictionaries(st.sampled_from(known_paths()), VALUES, max_size=1),
    st.sampled_from(["smoke", "quick", "full"]),
)
def test_any_topic_makes_runnable_trials_or_is_refused_in_one_line(
    phrases: list[str], values: dict[str, object], profile: str
) -> None:
    try:
        drafted = plan_for(" ".join(phrases), set=values, profile=profile)
    except Refusal as refused:
        line = str(refused)
        event("refused")
    else:
        line = drafted.question
        for arm in drafted.arms:
            for task in drafted.tasks:
                assert drafted.train_config(arm.id, task, 1, {}).task.ref == task
    assert line
    assert "\n" not in line


def test_the_weight_of_a_source_is_a_factor_where_there_is_a_mixture() -> None:
    mixture = {"task.sources.a.ref": "reverse", "task.sources.b.ref": "sort"}
    plan = plan_for("task.sources.a.weight 1 vs 3", task="mixture", set=mixture)
    assert [(f.name, f.levels) for f in plan.treatments] == [("task.sources.a.weight", (1, 3))]
    with pytest.raises(Refusal, match=r"task\.sources\.a\.ref"):
        plan_for("task.sources.a.weight 1 vs 3")
