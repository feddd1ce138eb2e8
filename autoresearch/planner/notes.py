"""Which notes of a plan could change what its reader does next: the screen shows these alone.

All notes stand in the report and in `--dry-run --json`. A note that planning fills into a sentence
below is recognised by that sentence.
"""

import re

from autoresearch.study.intent import Intent
from autoresearch.study.plan import Plan

PRESET = (
    "GRPO stands for the base recipe here (group-centred advantages, KL coefficient {kl:g}); "
    "--set algorithm.name=grpo takes the paper's preset"
)
RECIPE = (
    "{model} has {size} parameters, so the recipe for {name} models holds: {chosen}; "
    "--set fixes other values"
)
SIZE_UNKNOWN = (
    "how large {model} is cannot be read before it is fetched; a stated default holds: {chosen}; "
    "--set fixes other values"
)
OVERRUN = (
    "{arms} arms take about {time} on two cores, more than the {minutes:g} min that {profile} is "
    "meant for"
)
POWER = (
    "{seeds} seeds an arm detect {effect:.2g} in {metric} with power {power:g}, if its SD over "
    "seeds is {sd:g} (a guess that the pilot replaces); the smallest effect of interest is "
    "{least:g}"
)

_READ_OTHERWISE = (PRESET, RECIPE, SIZE_UNKNOWN)


def decisive(plan: Plan, intent: Intent | None = None) -> list[str]:
    """At most three notes: what of the question was left aside or read otherwise and what the model
    changes, what exceeds the promised time, and what the study can detect."""
    asked = {*intent.left_aside, *(r.note for r in intent.repairs)} if intent else set()
    kinds = (
        [n for n in plan.notes if n in asked or any(_says(s, n) for s in _READ_OTHERWISE)],
        [note for note in plan.notes if _says(OVERRUN, note)],
        [note for note in plan.notes if _says(POWER, note)],
    )
    return ["; ".join(notes) for notes in kinds if notes]


def _says(sentence: str, note: str) -> bool:
    """Whether the note is the sentence with something in its gaps."""
    fixed = map(re.escape, re.split(r"\{[^}]*\}", sentence))
    return re.fullmatch(".+".join(fixed), note) is not None
