"""A plan as a YAML file: written by `--dry-run --out`, edited, taken by `start --plan`."""

from io import StringIO
from pathlib import Path

from pydantic import ValidationError
from ruamel.yaml import YAML

from autoresearch.planner.lint import require_clean
from autoresearch.planner.planners import BUILT_IN
from autoresearch.planner.sets_for import with_checked_sets
from autoresearch.planner.task_for import require_usable
from autoresearch.playbook import Library
from autoresearch.study.plan import Plan
from swarm.config.base import EVERY
from swarm.config.paths import first_problem
from swarm.config.yaml_file import read_yaml
from swarm.disk.folder import write_atomically
from swarm.errors import Refusal, did_you_mean


def write_plan(path: Path, plan: Plan) -> None:
    """Write all of a plan. Raises Refusal for a folder that is not there, and for a folder."""
    if path.is_dir():
        raise Refusal("out", f"{path} is a folder", "name a file in it")
    if not path.absolute().parent.is_dir():
        raise Refusal("out", f"there is no folder {path.absolute().parent}", "make it first")
    yaml = YAML()
    yaml.default_flow_style = False
    text = StringIO()
    text.write("# autoresearch start --plan FILE registers exactly this.\n")
    yaml.dump(plan.model_dump(mode="json", context=EVERY), text)
    write_atomically(path, text.getvalue())


def read_plan(path: Path) -> Plan:
    """The plan of a file, linted as any plan. Raises Refusal that names what is wrong with it."""
    try:
        plan = Plan.model_validate(read_yaml(path, "plan"))
    except ValidationError as error:
        raise Refusal("plan", f"{path}: {first_problem(error)}", "correct it") from None
    _require_known(path, plan)
    require_clean(plan)
    require_usable(plan)
    return with_checked_sets(plan)


def _require_known(path: Path, plan: Plan) -> None:
    """Raise Refusal for an unknown playbook or planner."""
    Library.locate().path(plan.playbook)
    if plan.planner not in BUILT_IN and not plan.planner.rpartition(":")[0].endswith(".py"):
        raise Refusal(
            "plan",
            f"{path}: planner {plan.planner!r} is unknown",
            did_you_mean(plan.planner, BUILT_IN),
        )
