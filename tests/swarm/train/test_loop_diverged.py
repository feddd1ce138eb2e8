"""A gradient that is not finite ends the run; its batch is kept."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from support.tiny_runs import small, weights

from swarm.cli import app
from swarm.disk.folder import DIVERGED, EVENTS, check_seal, read_rows
from swarm.disk.trees import READABLE, load_trees
from swarm.records import TokenTree
from swarm.train.loop import train

pytestmark = pytest.mark.usefixtures("tiny_model")

#: AdamW's first update moves every weight by about the learning rate, so that the next rollouts
#: are sampled from weights whose activations overflow.
OVERFLOW = small(optim__lr=1e30, evaluation__prompts=4)


def test_the_batch_is_kept_and_named(tmp_path: Path) -> None:
    result = train(OVERFLOW, tmp_path)
    assert (result.status, result.steps) == ("diverged", 1)
    assert result.cause.endswith("on the batch in diverged/")
    (event,) = [row for row in read_rows(tmp_path / EVENTS) if row["kind"] == "diverged"]
    assert (event["detail"]["step"], event["detail"]["batch"]) == (1, DIVERGED)
    trees = load_trees(tmp_path / DIVERGED)
    assert sum(tree.trained_tokens for tree in trees) > 0
    first = next(read_rows(tmp_path / DIVERGED / READABLE))
    assert first["tokens"] == trees[0].nodes[0].tokens.tolist()
    assert first["text"].startswith("R:")
    assert check_seal(tmp_path) == []


def test_the_weights_are_those_before_the_update(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gradient is poisoned in the third batch; the adapter is that of two batches."""
    config = small(evaluation__prompts=4, evaluation__every=2)
    train(config.with_values({"steps": 2}), tmp_path / "two")
    poisoned = poison(monkeypatch, version=2)
    assert train(config, tmp_path / "cut").status == "diverged"
    left, right = weights(tmp_path / "cut"), weights(tmp_path / "two")
    assert all(torch.equal(left[name], right[name]) for name in left)
    assert_same_trees(load_trees(tmp_path / "cut" / DIVERGED), poisoned)


def poison(monkeypatch: pytest.MonkeyPatch, version: int) -> list[TokenTree]:
    """Make the first gradient at a version infinite; the list fills with that update's trees."""
    from swarm.learn import learner as module

    true, seen = module.policy_loss, []
    of_true = module.Learner.reinforce

    def reinforce(self, trees, *args, **more):
        if self.policy.version == version:
            seen.extend(trees)

            def policy_loss(logprobs, *rest, **named):
                logprobs.register_hook(lambda grad: grad * torch.inf)
                return true(logprobs, *rest, **named)

            monkeypatch.setattr(module, "policy_loss", policy_loss)
        return of_true(self, trees, *args, **more)

    monkeypatch.setattr(module.Learner, "reinforce", reinforce)
    return seen


def assert_same_trees(found: list[TokenTree], truth: list[TokenTree]) -> None:
    assert [len(tree.nodes) for tree in found] == [len(tree.nodes) for tree in truth]
    for a, b in zip(found, truth, strict=True):
        for one, other in zip(a.nodes, b.nodes, strict=True):
            assert (one.parent, one.version) == (other.parent, other.version)
            for name in ("tokens", "mask", "logprobs", "weight", "advantage"):
                left, right = np.asarray(getattr(one, name)), np.asarray(getattr(other, name))
                assert left.dtype == right.dtype
                assert left.tobytes() == right.tobytes()


def test_the_command_names_the_batch_and_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.json").write_text(json.dumps(OVERFLOW.model_dump(mode="json")))
    words = ["swarm", "train", "run.json", "--out", "run"]
    for more in ([], ["--resume"]):
        monkeypatch.setattr(sys, "argv", [*words, *more])
        with pytest.raises(SystemExit) as end:
            app.main()
        out, err = capfd.readouterr()
        assert end.value.code == app.FAILED
        assert out.splitlines()[-1] == f"the batch that broke it {Path('run') / DIVERGED}"
        assert err == ""
