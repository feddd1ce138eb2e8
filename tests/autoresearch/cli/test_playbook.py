"""`autoresearch playbook` as a user types it."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from autoresearch.cli.playbook import app
from swarm.errors import Refusal

RUNNER = CliRunner()


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def run(*arguments: str, code: int = 0) -> str:
    result = RUNNER.invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.stdout


def test_list() -> None:
    rows = json.loads(run("list", "--json"))
    assert "noise-floor" in [row["id"] for row in rows]
    assert all(row["origin"] == "built-in" and not row["problem"] for row in rows)
    assert "group-size" in run("list")


def test_show() -> None:
    assert json.loads(run("show", "group-size", "--json"))["factors"][0]["name"] == "group_size"
    assert "schema: autoresearch/playbook/v1" in run("show", "group-size", "--resolved")
    assert json.loads(run("show", "--schema"))["type"] == "object"
    document = json.loads(run("show", "estimators", "--plan", "--json"))
    assert document["playbook"] == "estimators"
    assert "advantage-std" in run("show", "advantage-std")
    with pytest.raises(Refusal, match="did you mean group-size"):
        run("show", "group-siz")


@pytest.mark.parametrize(
    "source",
    [
        ("--topic", "is rank 2 or 16 better?"),
        ("--from", "length-bias"),
        ("--from", "factor-sweep"),
    ],
)
def test_new_writes_a_commented_file_that_lints_clean(
    tmp_path: Path, source: tuple[str, str]
) -> None:
    run("new", "my-question", *source)
    text = (tmp_path / "playbooks" / "my-question.yaml").read_text()
    assert text.count("#") > 5
    assert json.loads(run("lint", "my-question", "--json")) == {"clean": True, "problems": []}
    assert json.loads(run("list", "--json"))[0]["origin"] == "project"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("mine",), "give --from ID or --topic TEXT"),
        (("mine", "--from", "group-size", "--topic", "x"), "give --from ID or --topic TEXT"),
        (("My Question", "--from", "group-size"), "use lower-case letters"),
        (("group-size", "--from", "group-size"), "choose another name"),
        (("mine", "--from", "group-siz"), "did you mean group-size"),
        (("mine", "--topic", "best pizza in Rome"), "no factor of the catalogue fits"),
    ],
)
def test_new_refuses_and_leaves_nothing(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    with pytest.raises(Refusal, match=message):
        run("new", *arguments)
    assert not (tmp_path / "playbooks").exists()


def test_lint_exits_with_2_and_says_where(tmp_path: Path) -> None:
    run("new", "mine", "--from", "group-size")
    path = tmp_path / "playbooks" / "mine.yaml"
    path.write_text(path.read_text().replace("metric: eval/acc", "metric: eval/ac"))
    line = path.read_text().split("metric: eval/ac")[0].count("\n") + 1
    document = json.loads(run("lint", "playbooks/mine.yaml", "--json", code=2))
    assert document["clean"] is False
    assert [(p["code"], p["line"]) for p in document["problems"]] == [("PB102", line)]
    said = RUNNER.invoke(app, ["lint"])
    assert (said.exit_code, said.stdout) == (2, "")
    assert f"playbooks/mine.yaml:{line}: error PB102" in said.stderr


def test_lint_of_everything_built_in_is_clean() -> None:
    assert "clean" in run("lint")
