"""The text of a new playbook: a plan as YAML, with comments that say what to change."""

import json
from collections.abc import Iterator, Mapping, Sequence

from autoresearch.playbook.schema import SCHEMA, Playbook
from autoresearch.study.plan import Hypothesis, Plan
from swarm.config.base import JsonValue
from swarm.config.paths import differences


def scaffold(name: str, parent: Playbook, plan: Plan, usual: Plan) -> str:
    """The YAML of a playbook `name` that extends `parent` and asks what `plan` asks.

    `usual` is the parent's own plan: settings in which `plan` differs from it are written out.
    """
    tested = {path for p in (plan, usual) for f in p.treatments for path in f.paths}
    name_of = plan.train.algorithm.name
    base = usual.train
    if name_of != base.algorithm.name:  # a preset fills the rest anew
        base = base.with_values({"algorithm.name": name_of})
    changed = differences(base, plan.train)
    if base is not usual.train:
        changed = {"algorithm.name": name_of, **changed}
    train = {path: value for path, value in changed.items() if path not in tested}
    return "\n".join([*_head(name, parent, plan), *_body(parent, plan, train), ""])


def _head(name: str, parent: Playbook, plan: Plan) -> Iterator[str]:
    yield f"# Check with: autoresearch playbook lint playbooks/{name}.yaml"
    yield f"# Run with:   autoresearch start {json.dumps(plan.topic)} --playbook {name}"
    yield "# Editors:    autoresearch playbook show --schema > playbook.schema.json"
    yield f"schema: {SCHEMA}"
    yield f"id: {name}                       # equal to the file's name"
    yield f"extends: {parent.id}             # mappings merge, lists replace, null takes away"
    yield f"title: {_yaml(plan.topic)}"
    yield f"question: {_yaml(plan.question)}"
    yield ""
    yield "# Found by the words of these topics; `phrases: [...]` claims each topic with one."
    yield "match:"
    yield f"  topics: [{_yaml(plan.topic)}]"


def _body(parent: Playbook, plan: Plan, train: Mapping[str, JsonValue]) -> Iterator[str]:
    yield ""
    yield "# Factors of the catalogue; the control is what other levels are compared with."
    yield "factors:"
    for factor in plan.treatments:
        yield f"  - name: {factor.name}"
        yield f"    levels: {_yaml(factor.levels)}"
        yield f"    control: {_yaml(factor.control)}"
    yield ""
    yield "# Written before any data exist. direction: greater, less or different."
    yield "hypotheses:"
    for hypothesis in plan.hypotheses:
        yield from _hypothesis(plan, hypothesis)
    first = plan.hypotheses[0]
    yield ""
    yield "primary:"
    yield f"  metric: {first.metric}"
    yield f"  min_effect: {first.min_effect:g}           # smallest effect of interest"
    yield "  # prior_sd: 0.03             # guess of the SD over seeds, until the pilot knows it"
    yield ""
    yield f"tasks: {_yaml(plan.tasks)}"
    yield ""
    if plan.tuning:
        yield "# One value for all arms, on seeds of its own; `tuning: null` takes it away."
        yield "tuning:"
        yield f"  factor: {plan.tuning.factor}"
        yield f"  low: {plan.tuning.low!r}"
        yield f"  high: {plan.tuning.high!r}"
    else:
        yield "tuning: null"
    yield ""
    yield "# Settings that every arm shares, by TrainConfig path."
    if train:
        yield "train:"
        yield from (f"  {path}: {_yaml(value)}" for path, value in train.items())
    else:
        yield "# train:"
        yield "#   batch.rollouts: 256"
    yield ""
    yield "# How much a profile runs; see: autoresearch playbook show " + f"{parent.id} --resolved"
    yield "# profiles:"
    yield "#   quick: {pilot: 3, looks: [5]}"
    yield ""
    yield "body: |"
    yield "  What would change your mind; which diagnostics to read before the verdict."


def _hypothesis(plan: Plan, hypothesis: Hypothesis) -> Iterator[str]:
    yield f"  - arm: {_map(plan.arm(hypothesis.arm).levels)}"
    yield f"    versus: {_map(plan.arm(hypothesis.versus).levels)}"
    yield f"    statement: {_yaml(hypothesis.statement)}"
    yield f"    direction: {hypothesis.direction}"
    yield f"    min_effect: {hypothesis.min_effect:g}"
    yield f"    source: {_yaml(hypothesis.source)}"


def _yaml(value: JsonValue | Sequence[JsonValue]) -> str:
    """A value or a list of values on one line: JSON is YAML."""
    return json.dumps(value, ensure_ascii=False)


def _map(values: Mapping[str, JsonValue]) -> str:
    return f"{{{', '.join(f'{key}: {_yaml(value)}' for key, value in values.items())}}}"
