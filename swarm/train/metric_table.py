"""Every metric that a run logs, in one line each."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Logged:
    """A logged metric: what it means, and in which `unit`, by which reports round it.

    One of an optimizer update is read from a figure of the loss (`swarm.learn.loss.Loss`): from its
    sum `sum_of` over a batch's updates, divided by their number (`per="updates"`), their trained
    tokens or another of their sums, or from its maximum `max_of` over them. `first`: over the first
    update alone, before the policy moves. `root`: the square root of that.
    """

    name: str
    meaning: str
    unit: str
    sum_of: str = ""
    per: str = "tokens"
    max_of: str = ""
    first: bool = False
    root: bool = False


_TABLE = (
    Logged("eval/acc", "held-out accuracy", "share"),
    Logged("eval/proxy", "held-out proxy reward", "reward"),
    Logged("eval/length", "length of held-out answers", "tokens"),
    Logged("eval/length_wrong", "length of wrong held-out answers", "tokens"),
    Logged("reward/mean", "training reward", "reward"),
    Logged("reward/std", "std of the training reward", "reward"),
    Logged("reward/min", "lowest training reward", "reward"),
    Logged("reward/max", "highest training reward", "reward"),
    Logged("reward/zero_std_frac", "share of groups with equal rewards", "share"),
    Logged("completions/mean_length", "answer length", "tokens"),
    Logged("completions/mean_length_wrong", "length of wrong answers", "tokens"),
    Logged("completions/mean_length_correct", "length of correct answers", "tokens"),
    Logged("completions/truncated_frac", "share of truncated answers", "share"),
    Logged("completions/overlong_frac", "share of prompts that fill the context", "share"),
    Logged("policy/entropy", "policy entropy", "nats per token", "entropy"),
    Logged("policy/kl_ref", "KL from the reference", "nats per token"),
    Logged("policy/clip_frac", "share of clipped tokens", "share", "clipped"),
    Logged("policy/clip_frac_low", "share of tokens clipped from below", "share", "clipped_low"),
    Logged("policy/clip_frac_high", "share of tokens clipped from above", "share", "clipped_high"),
    Logged("policy/ratio_max", "largest probability ratio", "ratio", max_of="ratio"),
    Logged(
        "mismatch/kl", "KL between sampler and learner", "nats per token", "mismatch", first=True
    ),
    Logged(
        "mismatch/logprob_abs_diff_mean",
        "mean gap of log-probabilities to the sampler",
        "nats",
        "gap",
        first=True,
    ),
    Logged(
        "mismatch/logprob_abs_diff_max",
        "largest gap of a log-probability to the sampler",
        "nats",
        max_of="gap",
        first=True,
    ),
    Logged(
        "mismatch/log_ratio_rms",
        "spread of log-ratios to the sampler",
        "nats",
        "gap_squares",
        first=True,
        root=True,
    ),
    Logged(
        "mismatch/sequence_log_ratio_rms",
        "spread of mean log-ratios to the sampler over sequences",
        "nats",
        "sequence_squares",
        first=True,
        root=True,
    ),
    Logged(
        "mismatch/outside_frac",
        "share of tokens outside a bound on the ratio before any update",
        "share",
        "outside",
        first=True,
    ),
    Logged("mismatch/ess", "effective sample size of the ratios", "share"),
    Logged("mismatch/masked_frac", "share of tokens masked by the correction", "share", "masked"),
    Logged("staleness/mean", "mean age of the sampling policy", "updates"),
    Logged("loss/policy", "policy loss", "loss", "policy", per="updates"),
    Logged("loss/value", "value loss", "loss", "value", per="updates"),
    Logged("loss/kl", "KL loss", "loss", "kl", per="updates"),
    Logged("dpo/margin", "log-ratio margin of preferred answers", "nats", "margin", per="pairs"),
    Logged("dpo/acc", "share of pairs ranked rightly", "share", "wins", per="pairs"),
    Logged("optim/lr", "learning rate", "rate"),
    Logged("optim/grad_norm", "gradient norm", "norm"),
    Logged("tokens/prompt", "prompt tokens", "tokens"),
    Logged("tokens/completion", "sampled tokens", "tokens"),
    Logged("tokens/trained", "trained tokens", "tokens"),
    Logged("time/rollout", "sampling time", "s"),
    Logged("time/learn", "learning time", "s"),
    Logged("time/sync", "synchronisation time", "s"),
    Logged("time/eval", "evaluation time", "s"),
    Logged("perf/tokens_per_sec", "tokens per second", "tokens/s"),
    Logged("data/groups_dropped", "dropped groups", "groups"),
    Logged("data/groups_resampled", "groups drawn in place of dropped ones", "groups"),
    Logged("data/groups_missing", "groups still missing after all draws", "groups"),
)

_OF_A_SET = re.compile(
    r"eval/(?P<set>[a-z0-9][a-z0-9_-]*)/(?:(?P<how>avg|pass)@(?P<k>[1-9]\d*)|length)"
)
_HOW = {"avg": "accuracy over {k} answers a prompt", "pass": "share solved within {k} answers"}


def passes(k: int) -> tuple[int, ...]:
    """The numbers of answers at which pass@ is reported: powers of two below k, and k."""
    powers = [2**i for i in range(k.bit_length()) if 2**i < k]
    return (*powers, k)


def names_of_set(title: str, k: int) -> tuple[str, ...]:
    """The metrics of an evaluation set with k answers a prompt, avg@k first."""
    shares = (f"avg@{k}", *(f"pass@{j}" for j in passes(k)))
    return tuple(f"eval/{title}/{name}" for name in (*shares, "length"))


def set_of(name: str) -> str | None:
    """The evaluation set that a metric is of; None for any other."""
    match = _OF_A_SET.fullmatch(name)
    return match["set"] if match else None


def counts_right(name: str) -> bool:
    """Whether a metric is a share of right answers: of none, it is 0."""
    match = _OF_A_SET.fullmatch(name)
    return name == "eval/acc" or (match is not None and match["how"] is not None)


class Table(Mapping[str, Logged]):
    """Metrics by name. It lists those that every run can have; those of evaluation sets
    (`eval/SET/avg@k`, `eval/SET/pass@k`, `eval/SET/length`) are found by their form."""

    def __init__(self, listed: Mapping[str, Logged]) -> None:
        self._listed = dict(listed)

    def __getitem__(self, name: str) -> Logged:
        if name in self._listed:
            return self._listed[name]
        match = _OF_A_SET.fullmatch(name)
        if match is None:
            raise KeyError(name)
        if match["how"] is None:
            return Logged(name, f"length of answers on {match['set']}", "tokens")
        meaning = _HOW[match["how"]].format(k=match["k"])
        return Logged(name, f"{meaning} on {match['set']}", "share")

    def __iter__(self) -> Iterator[str]:
        return iter(self._listed)

    def __len__(self) -> int:
        return len(self._listed)


#: By name.
LOGGED = Table({logged.name: logged for logged in _TABLE})
