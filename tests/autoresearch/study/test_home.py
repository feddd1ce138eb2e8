"""Where things are kept, and what is wrong with a place that cannot keep them."""

from pathlib import Path

import pytest

from autoresearch.study.home import Home
from swarm.errors import Refusal


def test_a_home_is_the_working_folder_unless_named(tmp_path: Path) -> None:
    assert Home.locate({}, tmp_path).root == tmp_path
    assert Home.locate({"AUTORESEARCH_HOME": ""}, tmp_path).root == tmp_path
    assert Home.locate({"AUTORESEARCH_HOME": "sub"}, tmp_path).root == tmp_path / "sub"
    assert Home.locate({"AUTORESEARCH_HOME": "/else"}, tmp_path).root == Path("/else")


def test_links_in_a_circle_are_no_home(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(Refusal, match="AUTORESEARCH_HOME: loop is a link that leads nowhere"):
        Home.locate({"AUTORESEARCH_HOME": "loop"}, tmp_path)


def test_a_user_that_is_not_there_has_no_home(tmp_path: Path) -> None:
    found = Home.locate({"AUTORESEARCH_HOME": "~no-such-user/x"}, tmp_path)
    assert found.root == tmp_path / "~no-such-user" / "x"


def test_every_version_finds_a_studys_jobs_in_one_namespace() -> None:
    """Trials on a standing cluster outlive an upgrade of the program."""
    assert Home(Path("/else")).ray_namespace("s1") == "autoresearch-6d6cdcee"


def test_checking_a_writable_home_creates_nothing(tmp_path: Path) -> None:
    Home(tmp_path / "new" / "home").check_writable()
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("")
    with pytest.raises(
        Refusal, match=r"home: .*runs cannot be written \(Not a directory\); .*AUTORESEARCH_HOME"
    ):
        Home(tmp_path).check_writable()


def test_a_place_that_cannot_be_written_is_named() -> None:
    with pytest.raises(Refusal, match="/proc cannot be written"):
        Home(Path("/proc/home")).check_writable()
