"""What a hypothesis on a logged metric assumes where the plan says nothing else."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from swarm.train.metric_table import LOGGED


@dataclass(frozen=True)
class Metric:
    """A metric of `swarm.train.metric_table`, as something to test.

    `min_effect` is a smallest effect of interest that suits the small built-in tasks, `prior_sd`
    a guess of the standard deviation over seeds that the pilot replaces; both in the metric's unit.
    `floor` is the score of a diverged run. `better` is None where neither sign is good.
    """

    name: str
    better: Literal["up", "down"] | None = None
    min_effect: float | None = None
    prior_sd: float | None = None
    floor: float = 0.0
    aliases: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return LOGGED[self.name].meaning


_TESTED = (
    Metric(
        "eval/acc",
        "up",
        0.05,
        0.03,
        aliases=("accuracy", "pass@1", "held out accuracy", "eval accuracy", "test accuracy"),
    ),
    Metric(
        "eval/proxy", "up", 0.05, 0.03, aliases=("held out proxy", "held out reward", "eval reward")
    ),
    Metric("eval/length", None, 1.0, 0.8),
    Metric(
        "reward/mean", "up", 0.05, 0.03, aliases=("training reward", "train reward", "mean reward")
    ),
    Metric(
        "policy/entropy",
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
        None,
        0.02,
        0.02,
        aliases=("kl divergence", "kl drift", "kl from the reference", "drift from the reference"),
    ),
    Metric(
        "completions/mean_length",
        None,
        1.0,
        0.8,
        aliases=(
            *("answer length", "response length", "completion length", "output length"),
            *("length of answers", "length of responses", "length of completions"),
            *("shorter answers", "longer answers", "shorter responses", "longer responses"),
            *("answers shorter", "answers longer", "responses shorter", "responses longer"),
            *("answers get shorter", "answers get longer", "responses get longer"),
            *("responses get shorter", "verbosity", "shorter completions", "longer completions"),
        ),
    ),
    Metric(
        "completions/mean_length_wrong",
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
        None,
        1.0,
        0.8,
        aliases=("length of correct answers", "correct answer length"),
    ),
)


class Metrics(Mapping[str, Metric]):
    """Metrics of a run folder by name. Those with a `min_effect` may carry a hypothesis. Shares of
    an evaluation set are tested as `eval/acc` is, lengths as `eval/length`."""

    def __init__(self, listed: Mapping[str, Metric]) -> None:
        self._listed = dict(listed)

    def __getitem__(self, name: str) -> Metric:
        if name in self._listed:
            return self._listed[name]
        alike = "eval/acc" if LOGGED[name].unit == "share" else "eval/length"
        return replace(self._listed[alike], name=name, aliases=())

    def __iter__(self) -> Iterator[str]:
        return iter(self._listed)

    def __len__(self) -> int:
        return len(self._listed)


#: Every metric of a run folder by name.
METRICS = Metrics(
    {
        **{name: Metric(name) for name in LOGGED},
        **{metric.name: metric for metric in _TESTED},
    }
)


def unit_of(name: str) -> str:
    """The unit of a metric; empty for one that the table does not know."""
    return LOGGED[name].unit if name in LOGGED else ""
