"""The walks through the code in docs/architecture.md lead along functions that exist."""

import importlib
import re
from functools import reduce
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
STOP = re.compile(r"^\d+\. `(?P<module>(?:swarm|autoresearch)[\w.]+):(?P<function>[\w.]+)`", re.M)
WALKS = ("From a command to a gradient", "From a topic to a verdict")


def section(title: str) -> str:
    return PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize("title", WALKS)
def test_a_walk_has_at_most_twelve_stops_and_each_is_a_function(title: str) -> None:
    stops = STOP.findall(section(title))
    assert 6 <= len(stops) <= 12
    assert len(stops) == len(re.findall(r"^\d+\. ", section(title), re.M))
    for module, function in stops:
        assert callable(reduce(getattr, function.split("."), importlib.import_module(module)))


def test_every_room_is_on_the_page_and_every_file_it_names_exists() -> None:
    for package in ("autoresearch", "swarm"):
        rooms = {p.name for p in (ROOT / package).iterdir() if p.is_dir() and p.name[0] != "_"}
        table = section("Rooms").partition(f"| `{package}/` |")[2].partition("\n\n")[0]
        rows = dict(re.findall(r"^\| `(\w+)/` \| (.*) \|$", table, re.M))
        assert rows.keys() == rooms
        for room, text in rows.items():
            for name in re.findall(r"`(\w+\.py)`", text):
                assert (ROOT / package / room / name).is_file(), f"{package}/{room}/{name}"


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_links_to_and_names_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    code = re.compile(r"```.*?```", re.S)
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", code.sub("", text))
    assert [link for link in links if not (page.parent / link).exists()] == []
    paths = re.findall(r"`((?:swarm|autoresearch|tests|benchmarks|docs|playbooks)/[\w./-]+)", text)
    missing = [path for path in paths if not (ROOT / path.rstrip("/")).exists()]
    assert [path for path in missing if path not in EXAMPLES] == []


#: Files that a page has its reader write.
EXAMPLES = {"swarm/algorithms/lite_ppo.py", "swarm/tasks/distinct.py"}
