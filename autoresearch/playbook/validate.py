"""From a document to a `Playbook`, or to problems with lines and codes."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from pydantic import ValidationError

from autoresearch.playbook.document import Document
from autoresearch.playbook.problems import MalformedPlaybook, Problem
from autoresearch.playbook.schema import SCHEMA, Playbook
from swarm.config.paths import place
from swarm.errors import closest


def validate(document: Document, merged: Mapping[str, Any]) -> Playbook:
    """The playbook of a document whose `extends` has been merged in. Raises MalformedPlaybook."""
    if document.values.get("schema") != SCHEMA:
        line = document.line(("schema",))
        problem = Problem("PB007", f"the key `schema` must be {SCHEMA}", line=line, at=("schema",))
        raise MalformedPlaybook(document.path, [problem])
    try:
        playbook = Playbook.model_validate(merged)
    except ValidationError as error:
        raise MalformedPlaybook(document.path, list(_problems(document, error))) from None
    if playbook.id != document.path.stem:
        text = f"id {playbook.id!r} is not the file's name {document.path.stem!r}"
        raise MalformedPlaybook(
            document.path, [Problem("PB006", text, line=document.line(("id",)), at=("id",))]
        )
    return playbook


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a playbook file, for editors."""
    schema = Playbook.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _problems(document: Document, error: ValidationError) -> Iterator[Problem]:
    for item in error.errors(include_url=False):
        at = tuple(item["loc"])
        name = place(at)
        if item["type"] == "extra_forbidden":
            near = closest(str(at[-1]), _keys())
            meant = f"; did you mean {near[0]}?" if near else ""
            code, message = "PB002", f"unknown key {name}{meant}"
        elif item["type"] == "missing":
            code, message = "PB003", f"{name} is missing"
        else:
            code, message = "PB004", f"{name}: {item['msg'].removeprefix('Value error, ')}"
        yield Problem(code, message, line=document.line(at), at=at)


@cache
def _keys() -> tuple[str, ...]:
    """Every key that some part of a playbook has."""
    schema = json_schema()
    parts = [schema, *schema.get("$defs", {}).values()]
    return tuple(dict.fromkeys(key for part in parts for key in part.get("properties", {})))
