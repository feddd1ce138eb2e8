"""Every place of both packages that makes a Refusal, and which place made one."""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("autoresearch", "swarm")


@dataclass(frozen=True)
class Site:
    """A call that makes a refusal, on the lines `first` to `last` of a file. The name is
    `package.module:function#n`, `#n` only where the function has more than one."""

    name: str
    file: Path
    first: int
    last: int


@cache
def sites() -> tuple[Site, ...]:
    """All there are, but for those in constructors of refusals."""
    files = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in files}
    kinds = _kinds(trees.values())
    found = [
        (f"{_module(path)}:{function}", path, call)
        for path, tree in trees.items()
        for function, call in _calls(tree, "", kinds)
    ]
    counts = Counter(name for name, _, _ in found)
    seen: Counter[str] = Counter()
    named = []
    for name, path, call in found:
        seen[name] += 1
        number = f"#{seen[name]}" if counts[name] > 1 else ""
        named.append(Site(name + number, path, call.lineno, call.end_lineno or call.lineno))
    return tuple(named)


def site_at(file: str, line: int) -> str | None:
    """The name of the site at a line, if there is one."""
    where = Path(file).resolve()
    return next((s.name for s in sites() if s.file == where and s.first <= line <= s.last), None)


def _kinds(trees: Iterable[ast.AST]) -> frozenset[str]:
    """The names of Refusal and of all classes that inherit from it."""
    classes = {
        node.name: {base.id for base in node.bases if isinstance(base, ast.Name)}
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    kinds = {"Refusal"}
    while more := {name for name, bases in classes.items() if bases & kinds} - kinds:
        kinds |= more
    return frozenset(kinds)


def _calls(node: ast.AST, within: str, kinds: frozenset[str]) -> Iterator[tuple[str, ast.Call]]:
    """(function, call) for each call of a kind; methods as `Class.method`."""
    for child in ast.iter_child_nodes(node):
        inside = within
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            inside = f"{within}.{child.name}" if within else child.name
        elif isinstance(child, ast.Call) and getattr(child.func, "id", "") in kinds:
            yield within, child
        yield from _calls(child, inside, kinds)


def _module(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
