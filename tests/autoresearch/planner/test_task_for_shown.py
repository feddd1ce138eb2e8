"""The sizes and hashes of the user's own data in a plan."""

from pathlib import Path

from support.own_tasks import written
from support.plans import OWN_ROWS, TOPIC, plan_for

from autoresearch.planner.task_for import data_of

CODE = """
from dataclasses import dataclass

@dataclass
class Made:
    rows: list
    def reward(self, prompts, completions, **columns):
        return [float(len(c)) for c in completions]

def make(most=40):
    return Made([{"prompt": f"R:{'abcdefgh'[i % 8]}{'abcdefgh'[i // 8]}>"} for i in range(most)])
"""


def test_a_built_in_task_has_no_files() -> None:
    assert data_of(plan_for(TOPIC)) == ()


def test_rows_are_counted_on_both_sides(tmp_path: Path) -> None:
    rows = str(written(tmp_path, OWN_ROWS))
    plan = plan_for(TOPIC, task=rows)
    (found,) = data_of(plan)
    assert (found.task, found.arms) == (rows, ())
    assert found.rows + found.held_out == len(OWN_ROWS)
    assert found.rows > found.held_out > 0
    assert found.sha256 == plan.train_config(plan.arms[0].id, rows, 0, {}).task.digest


def test_arms_with_other_data_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(CODE)
    ref = f"{tmp_path / 'mine.py'}:make"
    plan = plan_for("more or fewer prompts", task=ref, levels={"task.args.most": (40, 60)})
    found = data_of(plan)
    assert [(each.arms, each.rows + each.held_out) for each in found] == [
        ((plan.arms[0].id,), 40),
        ((plan.arms[1].id,), 60),
    ]
    assert len({each.sha256 for each in found}) == 2
