"""Two studies of one home open MLflow's store at once."""

import subprocess
import sys
from pathlib import Path

from mlflow.tracking import MlflowClient

from autoresearch.study.home import Home

OPEN = """
import sys
from pathlib import Path
from autoresearch.execute.mlflow_study import MlflowStudy
from autoresearch.study.home import Home
home = Home(Path(sys.argv[1]))
with MlflowStudy(home, sys.argv[2], "a topic"):
    pass
"""


def test_a_new_store_opened_by_two_processes(tmp_path: Path) -> None:
    """One makes the tables, the other waits."""
    home, studies = Home(tmp_path), ["s1", "s2"]
    others = [
        subprocess.Popen([sys.executable, "-c", OPEN, str(tmp_path), study]) for study in studies
    ]
    assert [other.wait() for other in others] == [0, 0]
    client = MlflowClient(home.mlflow_uri)
    names = {experiment.name for experiment in client.search_experiments()}
    assert names >= set(studies)
