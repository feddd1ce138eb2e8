"""Playbooks: templates of studies. YAML for what code checks, Markdown for judgement."""

from autoresearch.playbook.library import Library, PlaybookInfo
from autoresearch.playbook.problems import MalformedPlaybook, Problem
from autoresearch.playbook.schema import Playbook
from autoresearch.playbook.validate import json_schema

__all__ = ["Library", "MalformedPlaybook", "Playbook", "PlaybookInfo", "Problem", "json_schema"]
