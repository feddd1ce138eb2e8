"""What a run's numbers depend on besides its config."""

from pathlib import Path

import pytest

import swarm
from swarm.models import tiny
from swarm.tasks import evaluator_digest
from swarm.train.fingerprint import evaluators, run_fingerprint, source_digest


def test_it_names_versions_machine_model_and_code() -> None:
    found = run_fingerprint("tiny", ["reverse"], threads=3, libraries=["torch", "no-such-library"])
    assert found["torch"].startswith("2.")
    assert found["no-such-library"] == "absent"
    assert found["threads"] == 3
    assert found["cpu"]
    assert found["model"] == f"tiny, {tiny.ABOUT}"
    assert found["model_digest"] == tiny.FILES[tiny.WEIGHTS]
    assert found["evaluator.reverse"] == evaluator_digest("reverse")
    assert found["trainer"] == source_digest(Path(swarm.__file__).parent)


def test_the_users_own_task_is_named_without_its_path() -> None:
    found = evaluators(["sort", "/home/me/data.jsonl"])
    assert found.keys() == {"evaluator.sort", "evaluator.own"}
    assert found["evaluator.own"] == evaluator_digest("mine.py:make")


class TestSourceDigest:
    @pytest.fixture
    def package(self, tmp_path: Path) -> Path:
        folder = tmp_path / "a_small_package"
        (folder / "part").mkdir(parents=True)
        (folder / "__init__.py").write_text("")
        (folder / "part" / "a.py").write_text("x = 1\n")
        return folder

    def test_it_follows_names_and_texts_of_python_files_alone(self, package: Path) -> None:
        before = source_digest(package)
        (package / "notes.txt").write_text("no code")
        assert source_digest(package) == before
        (package / "part" / "a.py").write_text("x = 2\n")
        changed = source_digest(package)
        assert changed != before
        (package / "part" / "a.py").rename(package / "part" / "b.py")
        assert source_digest(package) not in (before, changed)
