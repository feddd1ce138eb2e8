"""How a topic wants its study run: seeds, steps, time, evaluation, precision."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from autoresearch.topic.stretches import Text, phrase
from swarm.errors import Refusal

#: Numbers that people write as words before a unit.
NUMBER_WORDS: Mapping[str, int] = {
    **{
        word: value
        for value, word in enumerate(
            [
                "one",
                "two",
                "three",
                "four",
                "five",
                "six",
                "seven",
                "eight",
                "nine",
                "ten",
                "eleven",
                "twelve",
            ],
            start=1,
        )
    },
    **{"a dozen": 12, "fifteen": 15, "twenty": 20, "fifty": 50, "a hundred": 100},
}
_WORDS = {word: str(value) for word, value in NUMBER_WORDS.items()}
_N = (
    rf"(?:\d[\d_,]*(?:\.\d+)?(?:e\d+)?k?|{'|'.join(w.replace(' ', chr(92) + 's') for w in _WORDS)})"
)

_SEEDS = phrase(
    rf"(?:(?:over|with|across|using|on|at|for)\s)?"
    rf"(?:n\s?=\s?)?(?P<n>{_N})\s(?:(?:random|different|independent|fixed)\s)?"
    r"(?:seeds?|repeats|replicates|repetitions|(?:runs|seeds)(?=\s(?:each|per|an|a)\b))"
    r"(?:\s(?:each|per\s(?:arm|config\w*|setting|level|variant|condition)|an?\sarm))?"
    rf"|(?:num_?|n_?)?seeds?\s?[=:]\s?(?P<m>{_N})"
)
_STEPS = phrase(
    rf"(?:(?:in|for|over|after|within|with|using|of|at|run|running)\s)?(?:only\s|just\s|about\s)?"
    rf"(?P<n>{_N})\s?(?:(?:training|optimi[sz]er|rl|grpo|ppo|gradient|policy|update)[-\s])?"
    r"(?<!sft\s)steps?(?!\s(?:of\s(?:sft|supervised|warm|stale|lag|imitation|off)|sft|stale|lag|off|behind|old|per|between|late|warm))"
    r"(?:\s(?:each|long|in\sall|total))?"
    rf"|(?:max_|total_|train(?:ing)?_|num_)?steps\s?[=:]\s?(?P<m>{_N})"
)
_NOT_STEPS = re.compile(
    r"(?:warm[-\s]?up|sft|supervised|stale\w*|lag|off[-\s]policy|delay|every|async\w*)\W+"
    r"(?:\w+\W+){0,2}?$"
    r"|(?:\bvs\.?|\bversus|\bor|\bthan|\d\s*[,/])\s*$",  # the level after another
    re.IGNORECASE,
)
_EVERY = phrase(
    rf"(?:(?:with\s)?(?:an?\s)?eval\w*(?:\s\w+){{0,2}}?\s|held[-\s]out\s\w+\s|test\w*\s)?"
    rf"every\s(?P<n>{_N})\s(?:training\s|optimi[sz]er\s)?steps"
    rf"|(?:eval_(?:every|steps|freq|interval)|test_freq)\s?[=:]?\s?(?P<m>{_N})"
)
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_TIME = r"(?:s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?)"
_BUDGET = phrase(
    rf"(?:(?:with)?in|under|at\smost|for|budget(?:\s?[=:]|\sof)?|less\sthan|no\smore\sthan|max(?:imum)?|up\sto|takes?)"
    rf"\s?(?:a\sbudget\sof\s|about\s)?(?P<n>{_N}|an?|half\san?)\s?(?P<u>{_TIME})(?:\s(?:budget|total|in\sall|of\scompute))?"
    rf"|(?P<m>{_N})[-\s]?(?P<v>{_TIME})\s(?:budget|limit)"
)
_AT_K = phrase(r"(?P<how>avg|mean|pass|maj(?:ority)?|cons|best)(?:@|_at_)(?P<k>\d+|k)")
_EVAL_TEMPERATURE = phrase(
    r"(?:(?:at|with|and)\s)?(?:eval(?:uation)?|test|validation)[-\s](?:temp(?:erature)?|t)\s?[=:]?\s?(?P<n>\d*\.?\d+)"
    r"|eval\w*\s(?:at|with)\s(?:a\s)?temp(?:erature)?\s(?:of\s)?(?P<e>\d*\.?\d+)"
    r"|(?:(?:at|with)\s)?temp(?:erature)?\s?[=:]?\s?(?P<m>\d*\.?\d+)\s(?:at|in|for|during)\s(?:eval\w*|test\w*|validation)"
)
_GREEDY = phrase(r"greedy\s(?:eval\w*|decod\w*|test\w*)|eval\w*\sgreed\w+")
_EQUAL = phrase(
    r"(?:at|for|under|with|given)?\s?(?:equal|equali[sz]ed|same|matched|iso|fixed|a\sfixed|the\ssame)[-\s]"
    r"(?P<what>wall[-\s]?clock(?:\stime)?|time|(?:total\s|training\s|generated\s)?tokens?|flops?|compute|gpu[-\s]?(?:hours|time)|cost)"
    r"(?:\sbudget)?"
    r"|per\s(?P<per>wall[-\s]?clock|gpu[-\s]?hour|flops?|second|unit\sof\scompute)"
)
_EPOCHS = phrase(
    rf"(?:for|after|in|over)\s(?P<n>{_N})\s(?:full\s|data(?:set)?\s|training\s)?epochs?(?!\s(?:per|a)\sbatch)"
)
_CONTEXT = phrase(
    r"(?:(?:at|with|under|using)\s)?(?:an?\s)?(?P<n>\d+k?)[-\s]?(?:tokens?\s)?"
    r"(?:context(?:\slength|\swindow)?|ctx|response\slength|completion\slength|token\s(?:budget|limit|responses|completions|answers))"
)
_PRECISIONS: Mapping[str, str] = {
    "bf16": "bfloat16",
    "bfloat16": "bfloat16",
    "fp32": "float32",
    "float32": "float32",
}
_PRECISION = phrase(
    r"(?:in\s)?(?P<p>bf16|bfloat16|fp32|float32|fp16|float16|fp8|nf4|int8|int4|[48][-\s]?bit)"
)


@dataclass
class Circumstances:
    """What a topic says of how a study runs. `at_k` are (avg or pass, k), `temperature` that of
    evaluation, `max_tokens` the length of answers, `precisions` those that are named."""

    seeds: int | None = None
    steps: int | None = None
    eval_every: int | None = None
    budget_seconds: float | None = None
    at_k: tuple[tuple[str, int], ...] = ()
    temperature: float | None = None
    max_tokens: int | None = None
    precisions: tuple[str, ...] = ()


def circumstances(text: Text) -> Circumstances:
    """Take what is said of a study's course out of a topic. Raises Refusal for what no study here
    can honour, naming it and what to say instead."""
    _refuse_equal(text)
    found = Circumstances()
    found.at_k, found.temperature = _at_k(text), _eval_temperature(text)
    found.eval_every = _one(text, _EVERY, "evaluation", whole)
    found.budget_seconds = _budget(text)
    found.seeds = _one(text, _SEEDS, "seeds", whole)
    found.steps = _steps(text)
    for match in text.take(_EPOCHS):
        raise Refusal(
            "topic",
            f"{match[0].strip()!r}: a run is measured in steps, not in passes over the data",
            "say 'for N steps', or 'N updates per batch'",
        )
    found.max_tokens = _one(text, _CONTEXT, "length", _tokens)
    found.precisions = _precisions(text)
    if found.seeds is not None and found.seeds < 2:
        raise Refusal("topic", "one seed shows no spread", "ask for 2 seeds or more")
    return found


def whole(said: str) -> int:
    """A whole number as people write it: `1,000`, `1k`, `three`. Raises ValueError."""
    text = _WORDS.get(said.lower(), said).replace(",", "").replace("_", "").lower()
    thousand = 1000 if text.endswith("k") else 1
    value = float(text.removesuffix("k")) * thousand
    if not value.is_integer():
        raise ValueError(f"{said} is not a whole number")
    return int(value)


def _tokens(said: str) -> int:
    """Tokens: `32k` is 32 x 1024, as context lengths are named."""
    return whole(said[:-1]) * 1024 if said.lower().endswith("k") else whole(said)


def _one(text: Text, pattern: re.Pattern[str], what: str, read: Callable[[str], int]) -> int | None:
    """The one value of a pattern. Raises Refusal for two that differ."""
    values = {}
    for match in text.take(pattern):
        said = match["n"] or match["m"] if "m" in pattern.groupindex else match["n"]
        try:
            values[read(said)] = match[0].strip()
        except ValueError as error:
            raise Refusal("topic", str(error), f"give the {what} as a whole number") from None
    if len(values) > 1:
        both = " and ".join(repr(said) for said in values.values())
        raise Refusal("topic", f"it names {both}", f"one study has one value of its {what}")
    if 0 in values:
        raise Refusal("topic", f"{values[0]!r} is none", f"give {what} of 1 or more")
    return next(iter(values), None)


def _steps(text: Text) -> int | None:
    """Steps of training; those of warm-up, SFT or staleness are left to their factors."""
    found: dict[int, str] = {}
    for match in list(_STEPS.finditer(text.left)):
        if _NOT_STEPS.search(text.before(match)):
            continue
        start, end = match.span()
        text.left = text.left[:start] + " " * (end - start) + text.left[end:]
        found[whole(match["n"] or match["m"])] = match[0].strip()
    if len(found) > 1:
        both = " and ".join(repr(said) for said in found.values())
        raise Refusal("topic", f"it names {both}", "test them with --factor steps=A,B")
    if 0 in found:
        raise Refusal("topic", f"{found[0]!r} is none", "give 1 step or more")
    return next(iter(found), None)


def _budget(text: Text) -> float | None:
    seconds: set[float] = set()
    for match in text.take(_BUDGET):
        said, unit = (match["n"], match["u"]) if match["n"] else (match["m"], match["v"])
        amount = {"a": 1.0, "an": 1.0}.get(said.lower())
        if amount is None:
            half = said.lower().startswith("half")
            amount = 0.5 if half else float(_WORDS.get(said.lower(), said).replace(",", ""))
        seconds.add(amount * _UNITS[unit[0].lower()])
    if len(seconds) > 1:
        raise Refusal("topic", "it names two lengths of time", "give one, as --budget")
    return next(iter(seconds), None)


def _at_k(text: Text) -> tuple[tuple[str, int], ...]:
    found: list[tuple[str, int]] = []
    for match in text.take(_AT_K):
        how = {"mean": "avg"}.get(match["how"].lower(), match["how"].lower())
        if how not in ("avg", "pass"):
            raise Refusal("topic", f"{match[0]} is not measured here", "ask for avg@k or pass@k")
        if match["k"].lower() == "k":
            raise Refusal("topic", f"{match[0]} says no k", f"say {how}@8, or another number")
        found.append((how, int(match["k"])))
    return tuple(dict.fromkeys(found))


def _eval_temperature(text: Text) -> float | None:
    for match in text.take(_GREEDY):
        raise Refusal(
            "topic",
            f"{match[0].strip()!r}: studies evaluate by sampling",
            "say 'evaluation temperature 0.1', or compare runs by: swarm eval --greedy",
        )
    values = {
        float(match["n"] or match["m"] or match["e"]) for match in text.take(_EVAL_TEMPERATURE)
    }
    if len(values) > 1:
        raise Refusal("topic", "it names two evaluation temperatures", "give one")
    return next(iter(values), None)


def _precisions(text: Text) -> tuple[str, ...]:
    found = []
    for match in text.take(_PRECISION):
        named = match["p"].lower()
        if named not in _PRECISIONS:
            raise Refusal(
                "topic", f"{match['p']} is not a precision of this trainer", "bf16 or fp32"
            )
        found.append(_PRECISIONS[named])
    return tuple(dict.fromkeys(found))


def _refuse_equal(text: Text) -> None:
    for match in text.take(_EQUAL):
        raise Refusal(
            "topic",
            f"{match[0].strip()!r}: arms are compared at equal steps and rollouts, and at "
            "nothing else",
            "say 'at equal steps'; reports show tokens and time beside the scores",
        )
