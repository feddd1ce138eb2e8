"""The metrics that trials log: their units, and the defaults of a hypothesis about one."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal


@dataclass(frozen=True)
class Metric:
    """A logged metric.

    `min_effect` is a smallest effect of interest that suits the small built-in tasks, `prior_sd`
    a guess of the standard deviation over seeds that the pilot replaces; both in the metric's
    `unit`, which decides how reports round it. `floor` is the score of a diverged run. `better` is
    None where neither sign is good.
    """

    name: str
    title: str
    unit: str
    better: Literal["up", "down"] | None = None
    min_effect: float | None = None
    prior_sd: float | None = None
    floor: float = 0.0
    aliases: tuple[str, ...] = ()


_PRIMARY = (
    Metric(
        "eval/acc",
        "held-out accuracy",
        "share",
        "up",
        0.05,
        0.03,
        aliases=("accuracy", "pass@1", "held out accuracy", "eval accuracy", "test accuracy"),
    ),
    Metric(
        "eval/proxy",
        "held-out proxy reward",
        "reward",
        "up",
        0.05,
        0.03,
        aliases=("held out proxy", "held out reward", "eval reward"),
    ),
    Metric(
        "reward/mean",
        "training reward",
        "reward",
        "up",
        0.05,
        0.03,
        aliases=("training reward", "train reward", "mean reward"),
    ),
    Metric(
        "policy/entropy",
        "policy entropy",
        "nats per token",
        None,
        0.1,
        0.05,
        aliases=(
            "entropy collapse",
            "entropy",
            "policy entropy",
            "exploration",
            "diversity",
            "mode collapse",
        ),
    ),
    Metric(
        "policy/kl_ref",
        "KL from the reference",
        "nats per token",
        None,
        0.02,
        0.02,
        aliases=("kl divergence", "kl drift", "kl from the reference", "drift from the reference"),
    ),
    Metric(
        "completions/mean_length",
        "answer length",
        "tokens",
        None,
        1.0,
        0.8,
        aliases=("answer length", "response length", "completion length", "output length"),
    ),
    Metric(
        "completions/mean_length_wrong",
        "length of wrong answers",
        "tokens",
        "down",
        1.5,
        1.0,
        aliases=(
            "length of wrong answers",
            "long wrong answers",
            "longer wrong answers",
            "wrong answers long",
            "wrong answers longer",
            "longer incorrect answers",
            "incorrect answers longer",
            "length of incorrect answers",
            "wrong answer length",
            "incorrect response length",
        ),
    ),
    Metric(
        "completions/mean_length_correct",
        "length of correct answers",
        "tokens",
        None,
        1.0,
        0.8,
        aliases=("length of correct answers", "correct answer length"),
    ),
)

_DIAGNOSTIC = (
    Metric("reward/std", "std of the training reward", "reward"),
    Metric("reward/zero_std_frac", "share of groups with equal rewards", "share"),
    Metric("completions/truncated_frac", "share of truncated answers", "share"),
    Metric("completions/overlong_frac", "share of prompts that fill the context", "share"),
    Metric("policy/clip_frac", "share of clipped tokens", "share"),
    Metric("policy/clip_frac_low", "share of tokens clipped from below", "share"),
    Metric("policy/clip_frac_high", "share of tokens clipped from above", "share"),
    Metric("policy/ratio_max", "largest probability ratio", "ratio"),
    Metric("mismatch/kl", "KL between sampler and learner", "nats per token"),
    Metric(
        "mismatch/logprob_abs_diff_mean", "mean gap of log-probabilities to the sampler", "nats"
    ),
    Metric(
        "mismatch/logprob_abs_diff_max", "largest gap of a log-probability to the sampler", "nats"
    ),
    Metric("staleness/mean", "mean age of the sampling policy", "updates"),
    Metric("mismatch/ess", "effective sample size of the ratios", "share"),
    Metric("mismatch/masked_frac", "share of tokens masked by the correction", "share"),
    Metric("loss/policy", "policy loss", "loss"),
    Metric("loss/value", "value loss", "loss"),
    Metric("dpo/margin", "log-ratio margin of preferred answers", "nats"),
    Metric("dpo/acc", "share of pairs ranked rightly", "share"),
    Metric("loss/kl", "KL loss", "loss"),
    Metric("optim/lr", "learning rate", "rate"),
    Metric("optim/grad_norm", "gradient norm", "norm"),
    Metric("tokens/prompt", "prompt tokens", "tokens"),
    Metric("tokens/completion", "sampled tokens", "tokens"),
    Metric("tokens/trained", "trained tokens", "tokens"),
    Metric("time/rollout", "sampling time", "s"),
    Metric("time/learn", "learning time", "s"),
    Metric("time/sync", "synchronisation time", "s"),
    Metric("time/eval", "evaluation time", "s"),
    Metric("perf/tokens_per_sec", "tokens per second", "tokens/s"),
    Metric("data/groups_dropped", "dropped groups", "groups"),
    Metric("data/groups_resampled", "groups drawn in place of dropped ones", "groups"),
    Metric("data/groups_missing", "groups still missing after all draws", "groups"),
    Metric("eval/length", "length of held-out answers", "tokens"),
    Metric("eval/length_wrong", "length of wrong held-out answers", "tokens"),
)

#: Every metric of a run folder by name. Those with a `min_effect` may carry a hypothesis.
METRICS: Mapping[str, Metric] = MappingProxyType({m.name: m for m in (*_PRIMARY, *_DIAGNOSTIC)})


def unit_of(name: str) -> str:
    """The unit of a metric; empty for one that the table does not know."""
    return METRICS[name].unit if name in METRICS else ""
