"""The paths of a home: its ledger, its studies' runs, their reports."""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from swarm.disk.user_paths import expanded
from swarm.errors import Refusal


@dataclass(frozen=True)
class Home:
    """The folder that holds `runs/` and `reports/`. Naming a path creates nothing."""

    root: Path

    @classmethod
    def locate(cls, env: Mapping[str, str], cwd: Path) -> "Home":
        """`AUTORESEARCH_HOME` if it is set and not empty, else the working folder. Raises Refusal
        for links in a circle."""
        named = env.get("AUTORESEARCH_HOME", "")
        try:
            return cls((cwd / expanded(named) if named else cwd).resolve())
        except (RuntimeError, OSError):  # Python up to 3.12, and from 3.13 on
            raise Refusal(
                "AUTORESEARCH_HOME", f"{named} is a link that leads nowhere", "name a folder"
            ) from None

    @property
    def runs(self) -> Path:
        return self.root / "runs"

    @property
    def reports(self) -> Path:
        return self.root / "reports"

    @property
    def ledger_file(self) -> Path:
        return self.runs / "ledger.sqlite"

    @property
    def mlflow_uri(self) -> str:
        return f"sqlite:///{self.runs / 'mlflow.sqlite'}"

    def study(self, study_id: str) -> Path:
        return self.runs / study_id

    def attempt(self, study_id: str, trial_id: str, number: int) -> Path:
        return self.study(study_id) / "attempts" / trial_id / str(number)

    def log(self, study_id: str) -> Path:
        return self.study(study_id) / "study.log"

    def ray_namespace(self, study_id: str) -> str:
        """Where a standing Ray cluster finds the study's jobs again: the same in every version."""
        folder = str(self.study(study_id).resolve())
        return f"autoresearch-{sha256(folder.encode()).hexdigest()[:8]}"

    def graph_file(self, study_id: str) -> Path:
        """The LangGraph checkpoint: a cache that may be deleted."""
        return self.study(study_id) / "graph.sqlite"

    def pause_flag(self, study_id: str) -> Path:
        """While this file exists, the study starts no trial and its driver stops."""
        return self.study(study_id) / "pause"

    def report(self, study_id: str) -> Path:
        return self.reports / study_id

    def check_writable(self) -> None:
        """Raise Refusal unless `runs/` and `reports/` can be written. Leaves nothing behind."""
        for folder in (self.runs, self.reports):
            nearest = next(path for path in (folder, *folder.parents) if path.exists())
            try:
                # Asked by writing: permission bits say nothing to root or on a full disk.
                with tempfile.TemporaryFile(dir=nearest) as file:
                    file.write(b"x")
            except OSError as error:
                raise Refusal(
                    "home",
                    f"{nearest} cannot be written ({error.strerror})",
                    "work in another folder or set AUTORESEARCH_HOME to one",
                ) from error
