"""What is imported is declared; pins and upper bounds have their reasons."""

import ast
import re
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PYPROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
PROJECT = tomllib.loads(PYPROJECT)["project"]
OURS = {"autoresearch", "swarm", "benchmarks", "support", "tests"}

#: Declared, though nothing imports them.
NOT_IMPORTED = {
    "pytest-xdist": "`-n`",
    "pytest-timeout": "`timeout`",
    "ruff": "a command",
    "mypy": "a command",
    "import-linter": "a command",
}


def declared(*extras: str) -> dict[str, Requirement]:
    """Requirements by the names of their distributions: the product's, and those of extras."""
    lines = [*PROJECT["dependencies"]]
    for extra in extras:
        lines += PROJECT["optional-dependencies"][extra]
    return {canonicalize_name((known := Requirement(line)).name): known for line in lines}


@cache
def imported(*packages: str) -> frozenset[str]:
    """Top-level modules of others that any file imports, within functions too."""
    found = set()
    for path in (path for package in packages for path in (ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return frozenset(found - OURS - sys.stdlib_module_names)


@cache
def distributions() -> dict[str, set[str]]:
    """Of each installed top-level module, the distributions that bring it."""
    return {
        module: {canonicalize_name(name) for name in names}
        for module, names in packages_distributions().items()
    }


ROOTS = pytest.mark.parametrize(
    ("packages", "extras"),
    [
        (("autoresearch", "swarm"), ()),
        (("autoresearch", "swarm", "tests", "benchmarks"), ("test", "bench")),
    ],
    ids=["product", "tests and benchmarks"],
)


@ROOTS
def test_what_is_imported_is_declared(packages: tuple[str, ...], extras: tuple[str, ...]) -> None:
    modules = imported(*packages)
    assert {m for m in modules if not distributions()[m] & declared(*extras).keys()} == set()


@ROOTS
def test_what_is_declared_is_imported(packages: tuple[str, ...], extras: tuple[str, ...]) -> None:
    used = set().union(*(distributions()[module] for module in imported(*packages)))
    assert declared(*extras).keys() - used - NOT_IMPORTED.keys() == set()
    assert not NOT_IMPORTED.keys() & used


def test_a_pin_and_an_upper_bound_have_a_reason_beside_them() -> None:
    lines = re.findall(r'^  "([\w.\-]+(?:\[\w+\])?[<>=!~][^"]*)",(.*)$', PYPROJECT, re.M)
    assert {line for line, _ in lines} == {
        *PROJECT["dependencies"],
        *(line for extra in PROJECT["optional-dependencies"].values() for line in extra),
    }
    bounded = [(line, rest) for line, rest in lines if re.search("==|<|~=", line)]
    assert [line for line, rest in bounded if len(rest.partition("#")[2].split()) < 3] == []
    assert not re.search("<|==|~=", PROJECT["requires-python"])


def test_the_pins_of_make_satisfy_every_requirement() -> None:
    pins = dict(re.findall(r"^([\w.\-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.M))
    pinned = {canonicalize_name(name): version for name, version in pins.items()}
    for name, requirement in declared("test", "bench").items():
        assert pinned[name] in requirement.specifier, requirement
