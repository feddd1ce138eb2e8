"""How a topic wants its study evaluated: how often, on how many prompts, by which measure."""

import re
from dataclasses import dataclass

from autoresearch.topic.quantities import N, single, whole
from autoresearch.topic.stretches import Text, phrase
from swarm.errors import Refusal

_EVERY = phrase(
    rf"(?:(?:with\s)?(?:an?\s)?eval\w*(?:\s\w+){{0,2}}?\s|held[-\s]out\s\w+\s|test\w*\s)?"
    rf"every\s(?P<n>{N})\s(?:training\s|optimi[sz]er\s)?steps"
    rf"|(?:eval_(?:every|steps|freq|interval)|test_freq)\s?[=:]?\s?(?P<m>{N})"
)
#: What else may be done every so often, and what no study does.
_OTHER_EVERY = phrase(
    rf"(?:sav\w*|checkpoint\w*|log\w*|refresh\w*|updat\w*|sync\w*|reset\w*|merg\w*|swap\w*|copy\w*|restart\w*)"
    rf"(?:\s+\w+){{0,4}}?\s+every\s{N}\s(?:training\s|optimi[sz]er\s)?(?:steps|updates|iterations)"
)
_AT_K = phrase(
    r"(?P<how>avg|mean|acc|pass|maj(?:ority)?|cons|best)(?:@|_at_)(?P<k>\d+|k)"
    r"(?:,?\s(?:at|with|and)\s(?:a\s)?(?:sampling\s)?(?:temp(?:erature)?|t)\s?[=:]?\s?(?:of\s)?(?P<t>\d*\.?\d+)"
    r"(?!\s?(?:,|vs|or|and|/)\s?\d))?"
)
#: `evaluated with 8 samples per prompt`.
_EVAL_SAMPLES = phrase(
    r"(?:eval\w*|test(?:ed|ing)?)(?:\s+on)?(?:\s+\w+){0,2}?"
    r"(?:\s+(?:at|with)\s(?:an?\s)?temp(?:erature)?\s?[=:]?\s?(?:of\s)?(?P<t>\d*\.?\d+),?)?"
    r"\s+(?:with|using|over|and)\s(?P<n>\d+)\s"
    r"(?:samples|answers|completions|attempts|generations)(?:\s(?:per|for\seach|a|an|each)\s?(?:prompt|problem|question)?)?"
)
_EVAL_PROMPTS = phrase(
    r"(?:(?:on|with|over|using)\s)?(?P<n>\d+)\s(?:held[-\s]out|test|eval(?:uation)?|validation)\s"
    r"(?:prompts|problems|questions|examples|samples|rows|items)"
    r"|(?:eval\w*|test\w*)\son\s(?P<m>\d+)\s(?:prompts|problems|questions|examples)"
)
_EVALUATED_ON = re.compile(
    r"^\s?on\s(?P<n>\d+)\s(?:prompts|problems|questions|examples)\b", re.IGNORECASE
)
_EVAL_TEMPERATURE = phrase(
    r"(?:(?:at|with|and)\s)?(?:eval(?:uation)?|test|validation)[-\s](?:temp(?:erature)?|t)\s?[=:]?\s?(?P<n>\d*\.?\d+)"
    r"|eval\w*\sat\s(?P<d>\d?\.\d+)"
    r"|eval\w*\s(?:at|with)\s(?:a\s)?temp(?:erature)?\s(?:of\s)?(?P<e>\d*\.?\d+)"
    r"|(?:evaluat\w*|test\w*)(?:\s+on)?(?:\s+\w+){0,2}?\s+(?:at|with)\s(?:an?\s)?temp(?:erature)?\s?[=:]?\s?(?:of\s)?(?P<f>\d*\.?\d+)"
    r"|(?:(?:at|with)\s)?temp(?:erature)?\s?[=:]?\s?(?P<m>\d*\.?\d+)\s(?:at|in|for|during)\s(?:eval\w*|test\w*|validation)"
)
_GREEDY = phrase(r"greedy\s(?:eval\w*|decod\w*|test\w*)|eval\w*\s(?:\w+\s){0,2}greed\w*")


@dataclass(frozen=True)
class Measured:
    """What is said of evaluations: `at_k` are (avg or pass, k), `every` so many steps, at
    `temperature`, on `prompts`."""

    at_k: tuple[tuple[str, int], ...] = ()
    every: int | None = None
    temperature: float | None = None
    prompts: int | None = None


def measured(text: Text) -> Measured:
    """Take what is said of evaluations out of a topic. Raises Refusal for a measure that there is
    not, and for two values of one thing."""
    at_k, temperature = _at_k(text)
    every, prompts = _every(text)
    return Measured(at_k, every, temperature, prompts)


def _every(text: Text) -> tuple[int | None, int | None]:
    """Steps between evaluations, and how many prompts each asks: `eval every 10 steps on 256`."""
    every: dict[int, str] = {}
    prompts: set[int] = set()
    for match in text.take(_OTHER_EVERY):
        raise Refusal(
            "topic",
            f"{match[0].strip()!r} is no setting of a study",
            "evaluations come every so many steps: say 'evaluate every 20 steps'",
        )
    for match in text.take(_EVERY):
        every[whole(match["n"] or match["m"])] = match[0].strip()
        if after := _EVALUATED_ON.match(text.left[match.end() :]):
            prompts.add(int(after["n"]))
            text.blank(match.end(), match.end() + after.end())
    prompts |= {int(match["n"] or match["m"]) for match in text.take(_EVAL_PROMPTS)}
    return single(every, "evaluation"), single({n: f"{n} prompts" for n in prompts}, "prompts")


def _at_k(text: Text) -> tuple[tuple[tuple[str, int], ...], float | None]:
    """What evaluations measure, as (avg or pass, k), and their temperature."""
    for match in text.take(_GREEDY):
        raise Refusal(
            "topic",
            f"{match[0].strip()!r}: studies evaluate by sampling",
            "say 'evaluation temperature 0.1', or compare runs by: swarm eval --greedy",
        )
    found: list[tuple[str, int]] = []
    warm: dict[float, str] = {}
    for match in text.take(_AT_K):
        how = {"mean": "avg", "acc": "avg"}.get(match["how"].lower(), match["how"].lower())
        if how not in ("avg", "pass"):
            raise Refusal("topic", f"{match[0]} is not measured here", "ask for avg@k or pass@k")
        if match["k"].lower() == "k":
            raise Refusal("topic", f"{match[0]} says no k", f"say {how}@8, or another number")
        found.append((how, int(match["k"])))
        if match["t"]:
            warm[float(match["t"])] = match[0].strip()
    for match in text.take(_EVAL_SAMPLES):
        found.append(("avg", int(match["n"])))
        if match["t"]:
            warm[float(match["t"])] = match[0].strip()
    for match in text.take(_EVAL_TEMPERATURE):
        warm[float(match["n"] or match["m"] or match["e"] or match["d"] or match["f"])] = match[
            0
        ].strip()
    temperature = single(warm, "evaluation temperature")
    return tuple(dict.fromkeys(found)), temperature
