"""Which refs are the user's own files."""

from pathlib import Path

from swarm.tasks import absolute, is_own, rewards


class TestRefs:
    def test_kinds(self, tmp_path: Path) -> None:
        assert is_own("data.jsonl")
        assert is_own("a/b.py:make")
        assert not is_own("reverse")
        assert not is_own("mine.py")
        assert rewards("data.jsonl") == ("exact", "number", "choice", "math")
        assert rewards("mine.py:make") == ("own",)

    def test_paths_become_absolute_and_names_stay(self, tmp_path: Path) -> None:
        assert absolute("x.jsonl", tmp_path) == str(tmp_path / "x.jsonl")
        assert absolute("../f.py:go", tmp_path) == f"{tmp_path.parent / 'f.py'}:go"
        assert absolute("/a/x.jsonl", tmp_path) == "/a/x.jsonl"
        assert absolute("reverse", tmp_path) == "reverse"
