"""Paths of a TrainConfig in a topic."""

import pytest

from autoresearch.topic.paths import PathNamed, paths_named
from autoresearch.topic.stretches import Text
from swarm.errors import Refusal


@pytest.mark.parametrize(
    ("topic", "path", "levels"),
    [
        ("optim.beta2 0.95 vs 0.999", "optim.beta2", (0.95, 0.999)),
        ("does optim.eps=1e-5 help?", "optim.eps", (1e-5,)),
        ("task.args.max 5 vs 7", "task.args.max", (5, 7)),
        ("task.args.shaped: true, false", "task.args.shaped", (True, False)),
        ("data.order uniform vs easy_first", "data.order", ("uniform", "easy_first")),
        ("sampling.temperature in GRPO", "sampling.temperature", ()),
    ],
)
def test_a_path_and_its_values(topic: str, path: str, levels: tuple[object, ...]) -> None:
    text = Text(topic)
    assert paths_named(text) == [PathNamed(path, levels)]
    assert path not in text.left


def test_what_looks_like_a_path_and_is_none_is_refused_with_the_nearest() -> None:
    with pytest.raises(Refusal, match=r"did you mean optim\.lr\?"):
        paths_named(Text("optim.lrr 1e-4 vs 1e-3"))
