"""From topics to plans, as a new user would type them."""

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from autoresearch.planner.catalogue import FACTORS
from autoresearch.planner.catalogue.advantages import RL_PRESETS
from autoresearch.planner.offline import draft
from autoresearch.planner.options import StartOptions
from autoresearch.planner.preview import preview
from autoresearch.planner.settings import known_paths
from autoresearch.playbook import Library
from autoresearch.playbook.library import BUILT_IN
from autoresearch.study.errors import BadInput
from autoresearch.study.plan import Plan
from swarm.config import TrainConfig

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
    "asymmetric clipping 0.2 vs 0.28 and entropy": CLIP,
    "clip-higher x updates per batch": CLIP,
    "what prevents entropy collapse in GRPO?": CLIP,
    "is group size 16 better than 4 at the same rollouts": GROUP_4,
    "group size 4 vs 16": GROUP_4,
    "how many samples per prompt does GRPO need?": GROUP,
    "does a larger group size help with a fixed number of completions?": GROUP,
    "G=2 or G=16 at equal compute?": GROUP_2,
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


def plan(topic: str, **options: object) -> Plan:
    return draft(topic, StartOptions.model_validate({"topic": topic, **options}), LIBRARY)


LIBRARY = Library((("built-in", BUILT_IN),))


@pytest.mark.parametrize(("topic", "expected"), TOPICS.items(), ids=TOPICS)
def test_a_topic_leads_to_its_factors_control_and_metric(
    topic: str, expected: tuple[str, dict[str, object], str]
) -> None:
    drafted = plan(topic)
    playbook, control, metric = expected
    assert drafted.playbook == playbook
    assert {f.name: f.control for f in drafted.treatments} == control
    assert drafted.hypotheses[0].metric == metric
    assert drafted.arms[0].levels == control
    assert drafted.topic == topic


@pytest.mark.parametrize(
    ("topic", "factor", "levels"),
    [
        ("GRPO vs RLOO vs REINFORCE++", "algorithm", {"grpo", "rloo", "reinforce_pp"}),
        ("GRPO, RLOO", "algorithm", {"grpo", "rloo"}),
        ("is GSPO better than GRPO?", "algorithm", {"grpo", "gspo"}),
        ("does PPO beat GRPO or DAPO?", "algorithm", {"grpo", "ppo", "dapo"}),
        ("does TIS help under staleness?", "correction", {"none", "tis"}),
        ("does dynamic sampling help?", "difficulty_filter", {"none", "resample"}),
        ("dr.grpo or grpo", "algorithm", {"grpo", "dr_grpo"}),
        ("is group size 16 better than 4 at the same rollouts", "group_size", {4, 16}),
        ("does group size 4 help?", "group_size", {8, 4}),
        ("lr 1e-3 vs 1e-4", "learning_rate", {1e-3, 1e-4}),
        ("rank 1, 8 and 64", "lora_rank", {1, 8, 64}),
        ("0/50/200 SFT steps", "sft_warmup", {0, 50, 200}),
        ("16 vs 4 completions per prompt", "group_size", {4, 16}),
        (
            "whitening of advantages: group vs batch std",
            "advantage_std",
            {"group_std", "batch_std"},
        ),
        ("LoRA vs full fine-tuning", "full_weights", {"lora", "full"}),
        ("does lr 3e-4 beat 2e-3 on Qwen 2.5 7B with 10 seeds?", "learning_rate", {3e-4, 2e-3}),
        ("group size 16 vs 4 at 256 rollouts", "group_size", {4, 16}),
    ],
)
def test_levels_typed_in_the_topic_are_the_arms(
    topic: str, factor: str, levels: set[object]
) -> None:
    (treatment,) = plan(topic).treatments
    assert treatment.name == factor
    assert set(treatment.levels) == levels


def test_a_claim_of_the_topic_is_the_hypothesis() -> None:
    (h,) = plan("is group size 16 better than 4 at the same rollouts").hypotheses
    assert (h.arm, h.versus, h.direction) == ("group_size-16", "group_size-4", "greater")


def test_two_factors_make_a_full_factorial() -> None:
    drafted = plan("learning rate 1e-3 vs 3e-4 and batch size 64 vs 128")
    assert {tuple(arm.levels.values()) for arm in drafted.arms} == {
        (1e-3, 64),
        (1e-3, 128),
        (3e-4, 64),
        (3e-4, 128),
    }
    assert drafted.tuning is None


def test_what_the_topic_holds_fixed_is_fixed_and_said() -> None:
    drafted = plan("does the learning rate matter with group size 4 at 256 rollouts?")
    assert [f.name for f in drafted.treatments] == ["learning_rate"]
    assert (drafted.train.batch.group_size, drafted.train.batch.rollouts) == (4, 256)
    assert any("batch.group_size 4" in note for note in drafted.notes)


def test_a_metric_named_in_the_topic_is_measured() -> None:
    drafted = plan("does weight decay change policy entropy?")
    assert {h.metric for h in drafted.hypotheses} == {"policy/entropy"}
    assert drafted.tuning is None


def test_a_requirement_is_repaired_and_said() -> None:
    drafted = plan("does the clip range matter?")
    assert drafted.train.batch.epochs == 4
    assert any("batch.epochs 4" in note for note in drafted.notes)
    assert plan("k2 or k3 as KL loss?").train.algorithm.kl_coef > 0


def test_estimators_share_one_kl_coefficient() -> None:
    drafted = plan("GRPO vs RLOO vs REINFORCE++")
    configs = [drafted.train_config(arm.id, "reverse", 0, {}) for arm in drafted.arms]
    assert [c.algorithm.name for c in configs] == ["grpo", "rloo", "reinforce_pp"]
    assert {c.algorithm.kl_coef for c in configs} == {0.0}
    changed = plan("GRPO vs RLOO", set={"algorithm.kl_coef": 0.02})
    assert {
        changed.train_config(arm.id, "reverse", 0, {}).algorithm.kl_coef for arm in changed.arms
    } == {0.02}


@pytest.mark.parametrize("name", RL_PRESETS)
def test_every_preset_can_be_an_arm(name: str) -> None:
    """With its own `data`, and the one KL coefficient of the study."""
    topic = f"GRPO vs {name.replace('_', ' ')}".replace("default", "the default recipe")
    drafted = plan(topic if name != "grpo" else "GRPO vs RLOO")
    configs = [drafted.train_config(arm.id, "reverse", 0, {}) for arm in drafted.arms]
    (found,) = [config for config in configs if config.algorithm.name == name]
    assert found.algorithm.kl_coef == 0
    wanted = TrainConfig().with_values({"algorithm.name": name, "algorithm.kl_coef": 0.0})
    assert (found.algorithm, found.data) == (wanted.algorithm, wanted.data)


def test_a_filter_that_the_user_fixes_holds_in_every_arm() -> None:
    drafted = plan("GRPO vs DAPO", set={"data.group_filter": "mixed_rewards"})
    configs = [drafted.train_config(arm.id, "reverse", 0, {}) for arm in drafted.arms]
    assert {config.data.group_filter for config in configs} == {"mixed_rewards"}


def test_a_correction_is_studied_on_stale_rollouts() -> None:
    for topic in ("does TIS help under staleness?", "does TIS help?"):
        drafted = plan(topic)
        configs = [drafted.train_config(arm.id, "reverse", 0, {}) for arm in drafted.arms]
        assert [c.max_staleness for c in configs] == [4, 4]
        assert [c.algorithm.correction.kind for c in configs] == ["none", "tis"]
        assert [c.algorithm.anchor for c in configs] == ["sampler", "batch_start"]


def test_group_sizes_that_do_not_divide_the_rollouts_move_them() -> None:
    drafted = plan("6 or 12 samples per prompt")
    assert drafted.train.batch.rollouts % 12 == 0
    assert {
        drafted.train_config(arm.id, "reverse", 0, {}).batch.rollouts for arm in drafted.arms
    } == {drafted.train.batch.rollouts}


def test_a_reward_picks_a_task_that_offers_it() -> None:
    assert plan("is a proxy reward hacked?").tasks == ("order",)


@pytest.mark.parametrize(
    "topic",
    [
        "best pizza in Rome",
        "",
        "   ",
        "???",
        "asdf",
        "temperature in Rome",
        "is attention all you need",
    ],
)
def test_nonsense_is_refused_with_a_next_step(topic: str) -> None:
    with pytest.raises(BadInput) as refused:
        plan(topic)
    assert refused.value.field == "topic"
    assert refused.value.next_step
    assert "\n" not in str(refused.value)


def test_a_topic_that_nothing_fits_names_the_nearest_playbooks() -> None:
    with pytest.raises(BadInput, match=r"nearest playbooks: learning-rate"):
        plan("lerning rate")


@pytest.mark.parametrize(
    ("topic", "message"),
    [
        ("GRPO vs REINFORCE", "no preset for REINFORCE"),
        ("rank 1000", "whole number from 1 to 512"),
        ("group size, KL and temperature", "3 factors"),
        ("group size 1", "group_size of 2 or more"),
    ],
)
def test_what_cannot_be_run_is_refused(topic: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        plan(topic)


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
        ({"set": {"batch.rollouts": 100}}, "no multiple of group_size"),
        ({"budget_seconds": 30.0}, "budget: the plan takes about"),
    ],
)
def test_options_that_no_plan_can_follow(options: dict[str, object], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        plan("group size 4 vs 16", **options)


def test_a_set_value_that_keeps_a_factor_from_acting_is_refused() -> None:
    with pytest.raises(BadInput, match="PB401"):
        plan("does the clip range matter?", set={"batch.epochs": 1})


def test_set_wins_over_the_playbook_and_stops_the_tuning() -> None:
    drafted = plan("group size 4 vs 16", set={"optim.lr": 5e-4, "steps": 33})
    assert (drafted.train.optim.lr, drafted.train.steps) == (5e-4, 33)
    assert drafted.tuning is None
    assert any("or --set fixes it" in note for note in drafted.notes)
    chain = plan("length bias of GRPO", set={"sampling.max_tokens": 24})
    assert chain.train_config(chain.arms[0].id, "chain", 0, {}).sampling.max_tokens == 24


def test_a_forced_playbook_keeps_its_factors() -> None:
    drafted = plan("does the learning rate matter?", playbook="noise-floor")
    assert drafted.playbook == "noise-floor"
    assert [f.name for f in drafted.treatments] == ["replicate"]
    assert any("learning_rate is named but not under test" in note for note in drafted.notes)
    with pytest.raises(BadInput, match="needs a factor"):
        plan("does it matter?", playbook="factor-sweep")


def test_a_factor_held_fixed_leaves_its_playbook() -> None:
    drafted = plan("does clip-higher keep entropy up with 2 updates per batch?")
    assert [f.name for f in drafted.treatments] == ["clip_higher"]
    assert drafted.train.batch.epochs == 2
    assert [h.metric for h in drafted.hypotheses] == ["policy/entropy"]


def test_a_rate_typed_in_the_topic_is_not_tuned_away() -> None:
    drafted = plan("does the group size matter at lr 1e-4?")
    assert drafted.tuning is None
    arm = drafted.arms[0].id
    assert drafted.train_config(arm, "reverse", 0, {}).optim.lr == 1e-4


def test_a_playbook_with_an_unknown_name_is_refused_with_its_line(tmp_path: Path) -> None:
    text = (BUILT_IN / "group-size.yaml").read_text().replace("name: group_size", "name: grp_size")
    (tmp_path / "group-size.yaml").write_text(text)
    library = Library((("project", tmp_path), ("built-in", BUILT_IN)))
    options = StartOptions(topic="x", playbook="group-size")
    line = text.split("name: grp_size")[0].count("\n") + 1
    with pytest.raises(BadInput, match=rf"group-size.yaml:{line}: PB101 .*did you mean group_size"):
        draft("x", options, library)


@pytest.mark.parametrize("profile", ["smoke", "quick", "full"])
def test_every_builtin_playbook_has_every_profile(profile: str) -> None:
    for topic in ("how noisy are my RL runs", "GRPO vs RLOO", "length bias of GRPO"):
        drafted = plan(topic, profile=profile)
        assert drafted.profile == profile
        assert len(drafted.seeds.confirm) == drafted.decision.looks[-1]
        assert drafted.decision.exploratory <= (profile != "full")


def test_a_two_arm_quick_study_is_short() -> None:
    drafted = plan("does dividing by the group std matter in GRPO?")
    assert preview(drafted)["trials"] <= 20
    assert len(drafted.seeds.confirm) >= 5
    assert drafted.estimated_trial_seconds <= 50


def test_equal_input_gives_equal_plans_and_other_seeds_other_studies() -> None:
    topic = "best lora rank for RL"
    assert plan(topic) == plan(topic)
    assert preview(plan(topic))["study"] != preview(plan(topic, seed=1))["study"]


def test_a_broken_playbook_nearby_is_left_out_and_named(tmp_path: Path) -> None:
    shutil.copy(BUILT_IN / "group-size.yaml", tmp_path / "mine.yaml")
    library = Library((("project", tmp_path), ("built-in", BUILT_IN)))
    topic = "group size 4 vs 16"
    drafted = draft(topic, StartOptions(topic=topic), library)
    assert drafted.playbook == "group-size"
    assert any("mine.yaml" in note and "PB006" in note for note in drafted.notes)


def test_preview_has_exactly_the_documented_keys() -> None:
    document = json.loads(json.dumps(preview(plan("does clip-higher stop entropy collapse"))))
    assert list(document) == [
        "study", "topic", "planner", "playbook", "question", "hypotheses", "factors", "arms",
        "tasks", "model", "seeds", "trials", "estimated_seconds", "notes",
    ]  # fmt: skip
    assert list(document["hypotheses"][0]) == [
        "id", "metric", "arm", "versus", "direction", "min_effect",
    ]  # fmt: skip
    assert list(document["factors"][0]) == ["name", "role", "levels", "control"]
    assert list(document["arms"][0]) == ["id", "levels"]
    assert list(document["seeds"]) == ["tuning", "confirm"]
    assert document["study"].startswith("does-clip-higher-stop-entropy-collapse-")


def test_a_task_named_in_the_topic_or_by_the_user_is_the_task() -> None:
    assert plan("does std matter on the sort task?").tasks == ("sort",)
    assert plan("does std matter on the sort task?", task="order").tasks == ("order",)


WORDS = "GRPO RLOO PPO vs or than better with at , 0 1 4 16 0.2 1e-3 steps rollouts entropy"
PHRASES = [
    *(alias for known in FACTORS.values() for alias in known.aliases),
    *(w for known in FACTORS.values() for phrases in known.words.values() for w in phrases),
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
        drafted = plan(" ".join(phrases), set=values, profile=profile)
    except BadInput as refused:
        line = str(refused)
        event("refused")
    else:
        line = drafted.question
        for arm in drafted.arms:
            for task in drafted.tasks:
                assert drafted.train_config(arm.id, task, 1, {}).task.ref == task
    assert line
    assert "\n" not in line
