"""Where playbooks are found, and how one is loaded with what it extends.

Searched in order: `playbooks/` in the working folder, `~/.autoresearch/playbooks`, the built-in
ones. A playbook of an earlier folder hides those of the same id in later ones. YAML files without
our `schema` key are left alone: other tools have playbooks too.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from autoresearch.playbook.document import Document, read
from autoresearch.playbook.problems import MalformedPlaybook, Problem
from autoresearch.playbook.schema import Playbook
from autoresearch.playbook.validate import validate
from swarm.disk.user_paths import home_folder
from swarm.errors import Refusal, did_you_mean

Origin = Literal["project", "user", "built-in"]
BUILT_IN = Path(__file__).parent / "builtin"

#: Keys that a playbook does not take from the one that it extends.
_OWN = frozenset({"id", "extends", "abstract", "match"})

#: Keys that are replaced as a whole: an effect size is in the unit of its metric.
_WHOLE = frozenset({"primary"})


@dataclass(frozen=True)
class PlaybookInfo:
    """A playbook as a list shows it; `playbook` is None where `problem` says why."""

    id: str
    origin: Origin
    path: Path
    playbook: Playbook | None
    problem: str = ""


#: Origin and file of each playbook, by stem.
Files = dict[str, tuple[Origin, Path]]


@dataclass(frozen=True)
class Library:
    """The folders that playbooks are found in."""

    folders: tuple[tuple[Origin, Path], ...]

    @classmethod
    def locate(cls, cwd: Path | None = None) -> "Library":
        """The library as seen from a working folder, by default the process' own."""
        folders: list[tuple[Origin, Path]] = [("project", (cwd or Path.cwd()) / "playbooks")]
        home = home_folder()
        if home is not None:
            folders.append(("user", home / ".autoresearch" / "playbooks"))
        return cls((*folders, ("built-in", BUILT_IN)))

    def infos(self) -> list[PlaybookInfo]:
        """Every playbook that is not abstract, broken ones included, in search order."""
        listed, files = [], self._files()
        for origin, path in files.values():
            try:
                document = read(path)
                playbook = validate(document, _merged(document, files))
            except MalformedPlaybook as error:
                listed.append(PlaybookInfo(path.stem, origin, path, None, error.problem))
            else:
                if not playbook.abstract:
                    listed.append(PlaybookInfo(playbook.id, origin, path, playbook))
        return listed

    def load(self, ref: str) -> Playbook:
        """The playbook of an id or a file. Raises Refusal: unknown (did you mean) or broken."""
        document = read(self.path(ref))
        return validate(document, self.merged(document))

    def path(self, ref: str) -> Path:
        """The file behind an id or a path. Raises Refusal with the nearest id."""
        if ref.endswith((".yaml", ".yml")) or "/" in ref:
            path = Path(ref)
            if path.is_file():
                return path
            raise Refusal("playbook", f"there is no file {ref}", "give a file or an id")
        files = self._files()
        if ref not in files:
            raise Refusal("playbook", f"{ref!r} is unknown", did_you_mean(ref, files))
        return files[ref][1]

    def merged(self, document: Document) -> dict[str, Any]:
        """The document's values over those of what it extends.

        Raises MalformedPlaybook (PB005) when that is unknown or leads back to the document.
        """
        return _merged(document, self._files())

    def _files(self) -> Files:
        """Origin and file of every playbook by stem; the first folder that has one wins."""
        files: Files = {}
        for origin, folder in self.folders:
            try:
                found = list(_ours(folder))
            except PermissionError:
                if origin == "user":  # nobody asked for it: as if it were not there
                    continue
                raise
            for path in found:
                files.setdefault(path.stem, (origin, path))
        return files


def _merged(document: Document, files: Files) -> dict[str, Any]:
    chain = [document]
    while (parent := chain[-1].values.get("extends")) is not None:
        if not isinstance(parent, str) or parent not in files:
            raise _extends(document, f"extends {parent!r}, which is unknown")
        ids = [d.path.stem for d in chain]
        if parent in ids:
            raise _extends(document, f"extends itself: {' → '.join([*ids, parent])}")
        chain.append(read(files[parent][1]))
    values: dict[str, Any] = {}
    for ancestor in reversed(chain):
        replaced = _OWN | (_WHOLE & ancestor.values.keys())
        inherited = {k: v for k, v in values.items() if k not in replaced}
        values = overlay(inherited, ancestor.values)
    return values


def overlay(base: Mapping[str, Any], top: Mapping[str, Any]) -> dict[str, Any]:
    """`base` under `top`: mappings merge, other values replace, None takes away."""
    merged = dict(base)
    for key, value in top.items():
        below = base.get(key)
        if isinstance(below, Mapping) and isinstance(value, Mapping):
            merged[key] = overlay(below, value)
        else:
            merged[key] = value
    return {key: value for key, value in merged.items() if value is not None}


def _ours(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        for path in filter(Path.is_file, sorted(folder.glob("*.yaml"))):
            if "autoresearch/playbook" in path.read_text(encoding="utf-8", errors="replace"):
                yield path


def _extends(document: Document, problem: str) -> MalformedPlaybook:
    line = document.line(("extends",))
    return MalformedPlaybook(document.path, [Problem("PB005", problem, line=line, at=("extends",))])
