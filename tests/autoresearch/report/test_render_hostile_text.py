"""Whatever a topic, a playbook or a path holds, a report shows it and never runs it."""

import re

import pytest
from support.synthetic_study import CONTROL, TREATMENT, Shape, compute, make_study

from autoresearch.analysis.claims import ClaimSet
from autoresearch.report.render import render
from autoresearch.study.home import Home
from autoresearch.study.plan import Factor

MARK = "q7z"
HOSTILE = (
    "{{ 7 * 7 }}",
    "{{ claim('rule.alpha') }}",
    "{{ known }}",
    "{{ nothing_of_this_name }}",
    "{{",
    "}} {% endcall %} {%",
    "{% for x in range(9) %}x{% endfor %}",
    "{% raw %}",
    "{# a comment #}",
    "`code` ``` more",
    "a | b || c",
    "line\n\n## Results\n\n| a |\n",
    "\\1 \\g<0> %s {0} $x",
    "<script>alert()</script>",
)


@pytest.fixture(scope="module")
def claims(tmp_path_factory: pytest.TempPathFactory) -> ClaimSet:
    home = Home(tmp_path_factory.mktemp("hostile"))
    return compute(make_study(home, Shape(length_hypothesis=True)))


def as_shown(text: str) -> str:
    """A text of the plan on one line, fit for a cell."""
    line = " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
    return line.replace("{{", "&#123;&#123;")


def heads(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("#")][1:]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_texts_of_topic_playbook_and_paths(hostile: str, claims: ClaimSet) -> None:
    said = f"{MARK} {hostile} {MARK}"
    plan = claims.plan.model_copy(
        update={
            "question": said,
            "playbook": said,
            "model": f"/models/{said}",
            "tasks": (f"/rows/{said}",),
            "hypotheses": tuple(
                h.model_copy(update={"statement": said, "source": said})
                for h in claims.plan.hypotheses
            ),
        }
    )
    text = render(claims.model_copy(update={"topic": said, "plan": plan}))
    assert text.count(as_shown(said)) == 6 + 2 * len(plan.hypotheses)
    assert text.count(MARK) == 2 * text.count(as_shown(said))
    assert heads(text) == heads(render(claims))


@pytest.mark.parametrize("hostile", [text for text in HOSTILE if "\n" not in text])
def test_levels_and_what_they_set_are_shown_as_they_are(hostile: str, claims: ClaimSet) -> None:
    level = f"{MARK} {hostile} {MARK}"
    levels, sets = (level, "b"), ("task.ref",)
    factor = Factor(name=level, role="treatment", levels=levels, control="b", sets=sets)
    arms = tuple(
        arm.model_copy(update={"levels": {level: level if arm.id == TREATMENT else "b"}})
        for arm in claims.plan.arms
    )
    plan = claims.plan.model_copy(update={"factors": (factor,), "arms": arms})
    text = render(claims.model_copy(update={"plan": plan}))
    assert f"| arm | {as_shown(level)} | sets |" in text
    cell = level.replace("|", "\\|")
    assert f"| `{TREATMENT}` | `{cell}` | `task.ref={cell}` |" in text
    assert f"| `{CONTROL}` | `b` (control) | `task.ref=b` |" in text


@pytest.mark.parametrize("hostile", HOSTILE)
def test_texts_that_claims_hold(hostile: str, claims: ClaimSet) -> None:
    said = f"{MARK} {hostile} {MARK}"
    told = ("study.command", "note.0", "deviation.0", "H1.reason", "alarm.0.cause")
    rows = [c.model_copy(update={"value": said}) if c.id in told else c for c in claims.claims]
    text = render(claims.model_copy(update={"claims": tuple(rows)}))
    line = " ".join(said.split())
    assert f"```\n{line}\n```" in text
    assert text.count(line.replace("|", "\\|").replace("<", "&lt;")) >= len(told) - 1
    assert heads(text) == heads(render(claims))


def test_a_pipe_in_a_level_does_not_break_its_row(claims: ClaimSet) -> None:
    level = "max|mean"
    factor = Factor(
        name="ref", role="treatment", levels=(level, "c"), control="c", sets=("task.ref",)
    )
    arms = tuple(
        arm.model_copy(update={"levels": {"ref": level if arm.id == TREATMENT else "c"}})
        for arm in claims.plan.arms
    )
    plan = claims.plan.model_copy(update={"factors": (factor,), "arms": arms})
    lines = render(claims.model_copy(update={"plan": plan})).splitlines()
    rows = [re.split(r"(?<!\\)\|", line) for line in lines if "task.ref=max" in line]
    assert rows == [["", f" `{TREATMENT}` ", " `max\\|mean` ", " `task.ref=max\\|mean` ", ""]]
