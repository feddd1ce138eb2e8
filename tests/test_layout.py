"""Code and tests lie where a reader looks for them."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest

from autoresearch.catalogue import THEMES

ROOT = Path(__file__).parents[1]
TESTS = Path(__file__).parent
PACKAGES = ("autoresearch", "swarm")
MIRRORED = (*PACKAGES, "benchmarks")
MOST_LINES = 320

PRESETS = tuple(p.stem for p in (ROOT / "swarm/algorithms").glob("*.py") if p.stem != "__init__")

#: Modules without a test file of their own, and why. The list only gets shorter: a module that has
#: one by now, or is gone, must leave it.
WITHOUT_TESTS = {
    **dict.fromkeys(
        (f"swarm/algorithms/{name}.py" for name in PRESETS),
        "values alone; test_init.py compares each with its paper",
    ),
    **dict.fromkeys(
        (f"autoresearch/catalogue/{name}.py" for name in THEMES),
        "entries alone; test_init.py and test_factor.py check every one",
    ),
    "autoresearch/planner/seam.py": "a record and a type; test_planners.py fills them",
    "autoresearch/study/endings.py": "exceptions without logic",
    "autoresearch/execute/observer.py": "a protocol, and one that says nothing",
    "swarm/tasks/task.py": "a protocol",
    "swarm/cluster/probe.py": "a script; test_reach.py runs it",
}


def modules(package: str) -> Iterator[Path]:
    """The Python files of a package, relative to the repository."""
    for path in sorted((ROOT / package).rglob("*.py")):
        yield path.relative_to(ROOT)


def named_modules(package: str) -> list[Path]:
    return [path for path in modules(package) if path.name != "__init__.py"]


def files_of_tests(package: str) -> list[Path]:
    return sorted(path.relative_to(TESTS) for path in (TESTS / package).rglob("test_*.py"))


def module_of(file: Path) -> Path | None:
    """The module that a test file is named for: of `test_own_rows_read.py`, `own_rows.py` rather
    than `own.py`."""
    room = ROOT / file.parent
    stems = {"init" if path.stem == "__init__" else path.stem for path in room.glob("*.py")}
    words = file.stem.removeprefix("test_").split("_")
    for length in range(len(words), 0, -1):
        stem = "_".join(words[:length])
        if stem in stems:
            return file.parent / ("__init__.py" if stem == "init" else f"{stem}.py")
    return None


@pytest.mark.parametrize("package", MIRRORED)
def test_every_test_file_lies_beside_its_module(package: str) -> None:
    astray = [str(file) for file in files_of_tests(package) if module_of(file) is None]
    assert astray == []


@pytest.mark.parametrize("package", MIRRORED)
def test_nothing_but_tests_and_fixtures_lies_among_them(package: str) -> None:
    others = [
        str(path.relative_to(TESTS))
        for path in (TESTS / package).rglob("*.py")
        if not path.name.startswith("test_") and path.name != "conftest.py"
    ]
    assert others == []


def test_every_module_has_tests_of_its_own_but_those_that_are_listed() -> None:
    tested = {module_of(file) for package in PACKAGES for file in files_of_tests(package)}
    without = {str(p) for package in PACKAGES for p in named_modules(package) if p not in tested}
    assert without == WITHOUT_TESTS.keys()


def test_most_modules_have_tests_of_their_own() -> None:
    count = sum(len(named_modules(package)) for package in PACKAGES)
    assert 1 - len(WITHOUT_TESTS) / count >= 0.88


@pytest.mark.parametrize("package", PACKAGES)
def test_no_file_is_long(package: str) -> None:
    lines = {str(path): len((ROOT / path).read_text().splitlines()) for path in modules(package)}
    assert {path: n for path, n in lines.items() if n > MOST_LINES} == {}


@pytest.mark.parametrize(
    ("room", "most"), [("autoresearch/planner", 20), ("swarm", 6), ("autoresearch", 6)]
)
def test_a_room_has_few_files(room: str, most: int) -> None:
    assert len(list((ROOT / room).glob("*.py"))) <= most


@pytest.mark.parametrize("package", PACKAGES)
def test_no_two_modules_share_a_name(package: str) -> None:
    names = Counter(path.name for path in named_modules(package))
    assert [name for name, count in names.items() if count > 1] == []


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    return grimp.build_graph(*PACKAGES, cache_dir=None)


def test_no_module_is_part_of_an_import_cycle(imports: grimp.ImportGraph) -> None:
    """Imports within functions count, too."""
    cyclic = [
        module
        for module in sorted(imports.modules)
        if any(
            imports.find_shortest_chain(importer=imported, imported=module)
            for imported in imports.find_modules_directly_imported_by(module)
        )
    ]
    assert cyclic == []
