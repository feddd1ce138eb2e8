"""`swarm train | sft | eval`, as a user types them."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from support.tiny_runs import Killed, assert_same_run, kill_at
from typer.testing import CliRunner

from swarm.cli import app
from swarm.cli.config_file import read_file
from swarm.cli.console import heading
from swarm.config.train import TrainConfig
from swarm.disk.folder import EVENTS, METRICS, ROLLOUTS, check_seal, read_rows
from swarm.train.loop import train

pytestmark = pytest.mark.usefixtures("tiny_model")


def swarm(*words: object) -> Any:
    return CliRunner().invoke(app.app, [str(word) for word in words])


def refused(capfd: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch, *words: object) -> str:
    """What the command says when it is refused: one line, exit code 2, nothing on stdout."""
    monkeypatch.setattr(sys, "argv", ["swarm", *map(str, words)])
    with pytest.raises(SystemExit) as end:
        app.main()
    out, err = capfd.readouterr()
    assert end.value.code == app.BAD_INPUT, err
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    return err


class TestTrain:
    def test_a_run_with_a_line_a_step(self, config: Path) -> None:
        done = swarm("train", config)
        assert done.exit_code == app.DONE, done.output
        folder = Path("runs/swarm/small-default-reverse-seed0")
        assert (folder / "manifest.json").is_file()
        lines = done.output.splitlines()
        at = lines.index(heading())
        assert [row.split()[0] for row in lines[at + 1 : at + 5]] == ["0", "1", "2", "3"]
        assert str(folder / "adapter") in done.output
        again = swarm("train", config, "--set", "steps=1", "--json")
        assert json.loads(again.stdout)["folder"] == f"{folder}-2"

    def test_json_alone_on_stdout(self, config: Path) -> None:
        done = swarm("train", config, "--json", "--out", "here", "--set", "steps=1")
        document = json.loads(done.stdout)
        assert (document["status"], document["steps"], document["folder"]) == (
            "finished",
            1,
            "here",
        )
        assert 0 <= document["eval/acc"]["last"] <= 1

    def test_resuming_equals_an_unbroken_run(self, config: Path, tmp_path: Path) -> None:
        whole, broken = tmp_path / "whole", tmp_path / "broken"
        train(read_file(config, []), whole)
        with pytest.raises(Killed):
            train(read_file(config, []), broken, on_step=kill_at(2))
        done = swarm("train", config, "--out", broken, "--resume", "--json")
        assert done.exit_code == app.DONE, done.output
        assert_same_run(broken, whole)
        assert json.loads(done.stdout)["status"] == "finished"
        again = swarm("train", config, "--out", broken, "--resume", "--json")
        assert again.stdout == done.stdout

    def test_checkpoints_at_a_url(self, config: Path, tmp_path: Path) -> None:
        """`--resume` finds them there without being told again."""
        place = f"file://{tmp_path}/far"
        train(read_file(config, []), tmp_path / "whole")
        with pytest.raises(Killed):
            train(read_file(config, []), Path("run"), checkpoints=place, on_step=kill_at(3))
        other = swarm("train", config, "--out", "other", "--checkpoints", place)
        assert "holds those of another run" in str(other.exception)
        done = swarm("train", config, "--out", "run", "--resume", "--json")
        assert done.exit_code == app.DONE, done.output
        assert_same_run(Path("run"), tmp_path / "whole")
        (resumed,) = [r for r in read_rows(Path("run") / EVENTS) if r["kind"] == "resumed"]
        assert resumed["detail"] == {"step": 2}

    def test_two_at_once_get_a_folder_each(self, config: Path) -> None:
        """And of two that want the same one, the second is refused in one line."""
        words = [sys.executable, "-m", "swarm.cli.app", "train", str(config), "--json"]
        env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
        pipe = subprocess.PIPE

        def both(*more: str) -> list[tuple[int, str, str]]:
            processes = [
                subprocess.Popen([*words, *more], stdout=pipe, stderr=pipe, text=True, env=env)
                for _ in range(2)
            ]
            return sorted((p.wait(), *p.communicate()) for p in processes)

        first, second = both()
        assert first[0] == second[0] == app.DONE
        folders = {json.loads(out)["folder"] for _, out, _ in (first, second)}
        assert len(folders) == 2
        for folder in map(Path, folders):
            assert [row["step"] for row in read_rows(folder / METRICS)] == [0, 1, 2, 3]
            assert check_seal(folder) == []
        first, second = both("--out", "one")
        assert (first[0], second[0]) == (app.DONE, app.BAD_INPUT)
        assert "one is being written by process" in second[2] or "holds a run" in second[2]
        assert second[2].count("\n") == 1
        assert check_seal(Path("one")) == []

    def test_a_run_may_start_over(self, config: Path) -> None:
        with pytest.raises(Killed):
            train(read_file(config, []), Path("run"), on_step=kill_at(3))
        shutil.rmtree("run/checkpoints")
        lost = swarm("train", config, "--out", "run", "--resume")
        assert "the run left steps 1 and 2 there" in str(lost.exception)
        assert len(list(read_rows(Path("run") / METRICS))) == 4
        done = swarm("train", config, "--out", "run", "--restart", "--json")
        assert json.loads(done.stdout)["exact"]
        assert [row["step"] for row in read_rows(Path("run") / METRICS)] == [0, 1, 2, 3]

    def test_a_run_that_went_on_elsewhere_says_so(self, config: Path) -> None:
        with pytest.raises(Killed):
            train(read_file(config, []), Path("run"), on_step=kill_at(3))
        file = Path("run/fingerprint.json")
        file.write_text(re.sub('"torch": "[^"]+"', '"torch": "2.0.0"', file.read_text()))
        done = swarm("train", config, "--out", "run", "--resume")
        assert "not exact (exact: false) after step 2: torch 2.0.0 → " in done.output

    def test_dry_run_prints_the_resolved_config_and_touches_nothing(self, config: Path) -> None:
        done = swarm("train", config, "--dry-run", "--set", "optim.lr=3e-4", "--set", "seed=7")
        found = TrainConfig.model_validate(YAML(typ="safe").load(done.stdout))
        assert (found.optim.lr, found.seed, found.steps) == (3e-4, 7, 3)
        assert not Path("runs").exists()
        as_json = swarm("train", config, "--dry-run", "--json", "--set", "algorithm.name=dapo")
        algorithm = json.loads(as_json.stdout)["algorithm"]
        assert (algorithm["name"], algorithm["clip_high"]) == ("dapo", 0.28)

    def test_a_failing_reward_is_one_line_and_exit_1(
        self, config: Path, capfd: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Path("mine.py").write_text(
            "from types import SimpleNamespace\n"
            "def broken(completions, **_):\n    return [1.0]\n"
            "def make():\n"
            "    rows = [{'prompt': f'R:{i}>'} for i in range(99)]\n"
            "    return SimpleNamespace(rows=rows, reward=broken)\n"
        )
        config.write_text(
            config.read_text().replace("ref: reverse, args: {min: 3, max: 5}", "ref: mine.py:make")
        )
        monkeypatch.setattr(sys, "argv", ["swarm", "train", str(config), "--out", "run"])
        with pytest.raises(SystemExit) as end:
            app.main()
        assert end.value.code == app.FAILED
        error = capfd.readouterr().err
        assert "broken in " in error
        assert "returned 1 values for 4 completions on row" in error
        assert error.count("\n") == 1

    @pytest.mark.parametrize("file", [ROLLOUTS, EVENTS])
    def test_a_full_disk_is_one_line_and_exit_1(
        self,
        config: Path,
        file: str,
        capfd: pytest.CaptureFixture,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """/dev/full takes no byte."""
        out = config.parent / "run"
        out.mkdir()
        (out / file).symlink_to("/dev/full")
        monkeypatch.setattr(sys, "argv", ["swarm", "train", str(config), "--out", str(out)])
        with pytest.raises(SystemExit) as end:
            app.main()
        says = capfd.readouterr().err.splitlines()[-1]
        assert end.value.code == app.FAILED
        assert says.startswith("error: ")
        assert "No space left on device; make room" in says


def test_sft_imitates_and_evaluates(config: Path) -> None:
    done = swarm("sft", config, "--json", "--out", "sft", "--set", "optim.lr=3e-3")
    assert done.exit_code == app.DONE, done.output
    rows = list(read_rows(Path("sft") / METRICS))
    assert all("reward/mean" not in row["metrics"] for row in rows[1:])
    assert rows[-1]["metrics"]["loss/policy"] < rows[1]["metrics"]["loss/policy"]
    assert read_file(config, [], supervised=True).algorithm.name == "sft"
    assert json.loads(done.stdout)["eval/acc"]["last"] is not None


class TestEval:
    def test_it_measures_what_training_measured(self, config: Path) -> None:
        swarm("train", config, "--out", "run", "--set", "optim.lr=5e-3")
        rows = [row["metrics"] for row in read_rows(Path("run") / METRICS)]
        base = json.loads(swarm("eval", config, "--json").stdout)
        tuned = json.loads(swarm("eval", config, "--json", "--adapter", "run").stdout)
        assert (base["accuracy"], base["n"]) == (rows[0]["eval/acc"], 16)
        assert tuned["accuracy"] == rows[-1]["eval/acc"]
        assert tuned["mean_length"] == rows[-1]["eval/length"]
        for found in (base, tuned):
            assert 0 <= found["low"] <= found["accuracy"] <= found["high"] <= 1
        text = swarm("eval", config, "--adapter", "run/adapter").stdout
        assert f"avg@1 {tuned['accuracy']:.3f}" in text

    def test_weights_of_the_users_file_are_where_it_says(self, config: Path) -> None:
        """Relative to the file; and a run that has them as its start begins where they ended."""
        sft = swarm("sft", config, "--out", "sft", "--set", "optim.lr=5e-3", "--json")
        elsewhere = Path("elsewhere")
        elsewhere.mkdir()
        text = config.read_text() + "policy: {start: ../sft}\n"
        (elsewhere / "rl.yaml").write_text(text)
        rl = swarm("train", elsewhere / "rl.yaml", "--out", "rl", "--json")
        last, first = (json.loads(done.stdout)["eval/acc"] for done in (sft, rl))
        assert first["first"] == last["last"]

    def test_greedy_needs_no_seed(self, config: Path) -> None:
        greedy = [swarm("eval", config, "--greedy", "--json", "--set", f"seed={s}") for s in (0, 1)]
        assert greedy[0].stdout == greedy[1].stdout
        assert greedy[0].stdout != swarm("eval", config, "--json").stdout


class TestBadInput:
    @pytest.mark.parametrize(
        ("words", "named"),
        [
            (["--set", "optim.l=1"], "optim.l: there is no such setting; did you mean lr?"),
            (["--set", "optim.lr=fast"], "optim.lr: Input should be a valid number"),
            (["--set", "batch.group_size=1"], "algorithm.baseline: 'group' needs batch.group_size"),
            (["--set", "batch.rollouts=10"], "batch: rollouts 10 is not a multiple"),
            (["--set", "steps"], "set: 'steps' is not an assignment"),
            (["--set", "steps.more=1"], "set: steps.more lies below a single value"),
            (["--set", "task.reward=praise"], "task.reward: 'praise' is unknown; known: exact"),
            (["--set", "task.ref=revers"], "task.ref: 'revers' is unknown"),
            (
                ["--set", "task.args={}", "--set", "task.ref=none.jsonl"],
                "task: there is no file",
            ),
            (["--set", "task.args.min=9"], "task.args: min 9 and max 5"),
            (
                ["--set", "task.args.max=99999999999999999999"],
                "give whole numbers from 1 to 100000",
            ),
            (["--set", "model.ref=./none"], "model.ref: "),
            (["--set", "policy.rank=513"], "policy.rank: 513 is above 512, the largest rank that"),
            (["--set", "optim.lr=1e308"], "optim.lr: 1e+308 cannot be computed with: fp32 holds"),
            (["--set", "optim.eps=1e-60"], "optim.eps: 1e-60 cannot be computed with"),
            (["--set", "sampling.max_tokens=1e8"], "is above 1048576, the longest context of any"),
            (["--set", "evaluation.prompts=1e9"], "is above 65536, at which an accuracy is known"),
            (  # at once, not after millions of draws
                ["--set", "evaluation.prompts=60000", "--set", "task.args={min: 1, max: 1}"],
                "held-out prompts that 'reverse' has at levels 1 to 1",
            ),
            (["--set", "policy.start=none"], "none holds no adapter_config.json and no weights"),
            (["--set", "algorithm=grpo"], "algorithm: "),
            (
                ["--set", "max_staleness=2", "--set", "algorithm.name=rloo"],
                "max_staleness: above 0 needs a bounded ratio",
            ),
            (
                ["--set", "max_staleness=2", "--set", "algorithm.anchor=batch_start"],
                "leaves the gap to the sampler uncorrected: set algorithm.correction.kind",
            ),
            (["--set", "model.ref=no/such-model"], "fetch it where there is a network"),
            (["--set", "model.ref=."], "the folder '.' has no config.json"),
            (["--set", "sampling.top_p=0.9"], "sampling.top_p: there is no such setting"),
            (["--out", "small.yaml"], "out: "),
            (["--checkpoints", "nowhere://x"], "checkpoints: nowhere://x cannot be used"),
            (["--checkpoints", "memory://here"], "it is gone when this process ends"),
            (["--checkpoints", "memory://"], "it is gone when this process ends"),
            (["--checkpoints", "://"], "it names no place"),
            (["--checkpoints", ""], "it names no place"),
            (["--out", ""], "out: it names no folder"),
            (["--out", "/proc/x"], "out: /proc is not a folder that can be written"),
            (["--checkpoints", "small.yaml"], "give a place that can be written to"),
            (["--resume"], "out: --resume and --restart need the folder of a run"),
        ],
    )
    def test_it_is_one_line_that_names_the_field(
        self,
        config: Path,
        words: list[str],
        named: str,
        capfd: pytest.CaptureFixture,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        assert named in refused(capfd, monkeypatch, "train", config, *words)
        assert not Path("runs").exists()

    @pytest.mark.parametrize("command", ["train", "sft", "eval"])
    @pytest.mark.parametrize(
        ("text", "named"),
        [
            ('{"item": "a"}', "row 1 has no `prompt`"),
            ('{"prompt": "a>", "answer": "b"}\n{"prompt": oops}', "rows.jsonl line 2 is not JSON"),
            ('{"prompt": "a>"}', "row 1 has no `answer`"),
        ],
    )
    def test_a_data_file_names_its_row(
        self,
        config: Path,
        command: str,
        text: str,
        named: str,
        capfd: pytest.CaptureFixture,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        Path("rows.jsonl").write_text(text)
        words = [command, config, "--set", "task.ref=rows.jsonl", "--set", "task.args={}"]
        assert named in refused(capfd, monkeypatch, *words)
        assert not Path("runs").exists()

    @pytest.mark.parametrize("command", ["train", "eval"])
    def test_a_device_that_is_not_there(
        self,
        config: Path,
        command: str,
        capfd: pytest.CaptureFixture,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr("torch.cuda.is_available", lambda: False)
        words = [command, config, "--set", "device=cuda"]
        assert "device: cuda is not there" in refused(capfd, monkeypatch, *words)
        assert not Path("runs").exists()

    def test_code_that_raises_is_one_line(
        self, config: Path, capfd: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Path("mine.py").write_text("def make():\n    raise ValueError('no\\nrows')\n")
        words = ["train", config, "--set", "task.ref=mine.py:make", "--set", "task.args={}"]
        error = refused(capfd, monkeypatch, *words)
        assert "make raised ValueError: no rows (mine.py:2); correct" in error

    def test_with_json_it_is_a_document_too(
        self, config: Path, capfd: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for command in ("train", "sft", "eval"):
            words = ["swarm", command, str(config), "--json", "--set", "batch.group_size=0"]
            monkeypatch.setattr(sys, "argv", words)
            with pytest.raises(SystemExit) as end:
                app.main()
            out, err = capfd.readouterr()
            document = json.loads(out)
            assert document["exit"] == end.value.code == app.BAD_INPUT
            error = document["error"]
            assert error["field"] == "batch.group_size"
            assert err == f"error: {error['field']}: {error['problem']}; {error['next_step']}\n"

    def test_sft_has_no_groups(self, config: Path) -> None:
        """A group of one is refused for rollouts with a group baseline only."""
        found = read_file(config, ["batch.group_size=1"], supervised=True)
        assert found.batch.group_size == 1

    @pytest.mark.parametrize(
        ("text", "named"),
        [("steps: [", "is not YAML"), ("- 1", "holds no settings"), ("optim: 3", "optim: ")],
    )
    def test_a_broken_file(
        self,
        config: Path,
        text: str,
        named: str,
        capfd: pytest.CaptureFixture,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        config.write_text(text)
        assert named in refused(capfd, monkeypatch, "train", config)
        assert "config: " in refused(capfd, monkeypatch, "train", "none.yaml")

    def test_a_folder_that_holds_a_run(
        self, config: Path, capfd: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        swarm("train", config, "--out", "run", "--set", "steps=1")
        assert "out: run holds a run" in refused(
            capfd, monkeypatch, "train", config, "--out", "run"
        )
        words = ["train", config, "--out", "run", "--resume", "--set", "optim.lr=1"]
        assert "optim.lr: run was trained with another value" in refused(capfd, monkeypatch, *words)
        words = ["eval", config, "--adapter", "runs"]
        assert "adapter: runs holds no adapter_config" in refused(capfd, monkeypatch, *words)
