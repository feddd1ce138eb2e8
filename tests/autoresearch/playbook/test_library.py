"""Finding and loading playbooks."""

from pathlib import Path

import pytest

from autoresearch.playbook import Library, MalformedPlaybook
from autoresearch.playbook.library import BUILT_IN, overlay
from swarm.errors import Refusal

HEAD = "schema: autoresearch/playbook/v1\n"


@pytest.fixture
def library(tmp_path: Path) -> Library:
    for name in ("project", "user"):
        (tmp_path / name).mkdir()
    return Library(
        (
            ("project", tmp_path / "project"),
            ("user", tmp_path / "user"),
            ("built-in", BUILT_IN),
        )
    )


def write(library: Library, origin: int, name: str, text: str) -> Path:
    path = library.folders[origin][1] / f"{name}.yaml"
    path.write_text(text)
    return path


def test_the_built_in_playbooks_load(library: Library) -> None:
    ids = {info.id for info in library.infos() if info.playbook}
    assert {
        "noise-floor", "advantage-std", "learning-rate", "group-size", "clip-higher",
        "length-bias", "estimators", "sft-warmup", "factor-sweep",
    } <= ids  # fmt: skip
    assert "base" not in ids
    assert not any(info.problem for info in library.infos())


def test_a_nearer_folder_hides_a_farther_one(library: Library) -> None:
    text = HEAD + "id: group-size\nextends: base\ntitle: {}\n"
    write(library, 1, "group-size", text.format("of the user"))
    assert library.load("group-size").title == "of the user"
    write(library, 0, "group-size", text.format("of the project"))
    assert library.load("group-size").title == "of the project"
    assert [i.origin for i in library.infos() if i.id == "group-size"] == ["project"]


def test_a_changed_file_is_read_again(library: Library) -> None:
    text = HEAD + "id: mine\nextends: base\ntitle: {}\n"
    write(library, 0, "mine", text.format("first"))
    assert library.load("mine").title == "first"
    write(library, 0, "mine", text.format("second one"))
    assert library.load("mine").title == "second one"


def test_extends_merges_maps_replaces_lists_and_takes_away(library: Library) -> None:
    write(
        library,
        0,
        "mine",
        HEAD + "id: mine\nextends: group-size\ntuning: null\nmetrics: [optim/grad_norm]\n"
        "train: {optim.lr: 0.002}\nprofiles: {quick: {looks: [7]}}\n",
    )
    mine, parent = library.load("mine"), library.load("group-size")
    assert mine.tuning is None
    assert parent.tuning is not None
    assert mine.metrics == ("optim/grad_norm",)
    assert mine.train == {**parent.train, "optim.lr": 0.002}
    assert mine.profiles["quick"].looks == (7,)
    assert mine.profiles["quick"].pilot == parent.profiles["quick"].pilot
    assert mine.match.factors == ()


def test_an_unknown_playbook_names_the_nearest(library: Library) -> None:
    with pytest.raises(Refusal, match="did you mean advantage-std"):
        library.load("advantag-std")
    with pytest.raises(Refusal, match="there is no file"):
        library.load("no/such.yaml")


def test_a_file_can_be_named_by_its_path(library: Library) -> None:
    path = write(library, 0, "mine", HEAD + "id: mine\nextends: base\ntitle: mine\n")
    assert library.load(str(path)).id == "mine"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("extends: nobody\n", "extends 'nobody', which is unknown"),
        ("extends: mine\n", "extends itself: mine → mine"),
        ("extends: other\n", "extends itself: mine → other → mine"),
    ],
)
def test_extends_that_leads_nowhere(library: Library, text: str, message: str) -> None:
    write(library, 0, "mine", HEAD + "id: mine\ntitle: mine\n" + text)
    write(library, 0, "other", HEAD + "id: other\ntitle: other\nextends: mine\n")
    with pytest.raises(MalformedPlaybook, match=message) as refused:
        library.load("mine")
    assert (refused.value.problems[0].code, refused.value.problems[0].line) == ("PB005", 4)


def test_playbooks_of_other_tools_are_left_alone(library: Library) -> None:
    write(library, 0, "site", "- hosts: all\n  tasks: []\n")
    assert "site" not in {info.id for info in library.infos()}


def test_a_broken_playbook_is_listed_with_its_problem(library: Library) -> None:
    write(library, 0, "mine", HEAD + "id: [\n")
    (info,) = [info for info in library.infos() if info.id == "mine"]
    assert info.playbook is None
    assert "PB001" in info.problem


def test_overlay_keeps_what_is_not_named() -> None:
    base = {"a": {"x": 1, "y": 2}, "b": [1], "c": 3}
    assert overlay(base, {"a": {"y": 5}, "b": [2], "c": None}) == {"a": {"x": 1, "y": 5}, "b": [2]}
