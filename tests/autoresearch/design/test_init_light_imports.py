import subprocess
import sys

MODULES = (
    "autoresearch.design.arms",
    "autoresearch.design.looks",
    "autoresearch.design.power",
    "autoresearch.design.seeds",
    "autoresearch.design.tuning",
    "autoresearch.analysis.statistics",
    "autoresearch.analysis.verdicts",
)
HEAVY = ("scipy", "statsmodels", "optuna", "torch", "ray")


def test_commands_can_import_the_rules_without_their_libraries():
    code = f"import sys, {', '.join(MODULES)}; print(sorted(set({HEAVY}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
