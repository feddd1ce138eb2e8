"""`python -m benchmarks.questions [--show] [--only SET]`: how many topics are answered by the study
that they ask for. The last line is one JSON object."""

import argparse
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.questions.ask import ask
from benchmarks.questions.check import judge
from benchmarks.questions.entries import Entry, every_set
from benchmarks.questions.figures import Judged, counted, figures, outcomes

RESULTS = Path(__file__).parents[1] / "results" / "questions.json"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.questions", description=__doc__)
    parser.add_argument(
        "--show", action="store_true", help="print what is wrong; of the blind set counts alone"
    )
    parser.add_argument("--only", metavar="SET", help="open or blind; writes no result file")
    parser.add_argument("--show-blind", action="store_true", help="when the mending is done")
    given = parser.parse_args()
    sets = {n: entries for n, entries in every_set().items() if given.only in (None, n)}
    judged = {name: judge_all(entries) for name, entries in sets.items()}
    for name, found in judged.items():
        if given.show_blind or (given.show and name != "blind"):
            show(found)
        print(f"{name}: {counted(found)}")
    if given.only is None:
        RESULTS.write_text(json.dumps(outcomes(judged), indent=1, ensure_ascii=False) + "\n")
    print(json.dumps(figures(judged)), flush=True)


def judge_all(entries: Sequence[Entry]) -> Judged:
    """Every entry with its verdict, where no study, playbook or model of this user counts."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["AUTORESEARCH_HOME"] = os.environ["HOME"] = folder
        os.chdir(folder)
        try:
            return [(entry, judge(entry, ask(entry, Path(folder)))) for entry in entries]
        finally:
            os.chdir(before)


def show(found: Judged) -> None:
    """Print each topic that is not right, with what is wrong."""
    for entry, verdict in found:
        if verdict.outcome != "right":
            print(f"{verdict.outcome:<9}{' '.join([entry.topic, *entry.options])}")
            for fault in verdict.faults:
                print(f"         {fault.kind}: {fault.detail}")


if __name__ == "__main__":
    main()
