"""How a topic wants its study run: seeds, steps, time, evaluation, precision."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from autoresearch.topic.aliases import vocabulary
from autoresearch.topic.measured import Measured, measured
from autoresearch.topic.quantities import N, amount, one_of, single, whole
from autoresearch.topic.stretches import Text, phrase
from autoresearch.topic.words import words
from swarm.errors import Refusal

_SEEDS = phrase(
    rf"(?:(?:over|with|across|using|on|at|for)\s)?"
    rf"(?:n\s?=\s?)?(?P<n>{N})\s(?:(?:random|different|independent|fixed)\s)?"
    r"(?:seeds?|repeats|replicates|repetitions|(?:runs|seeds)(?=\s(?:each|per|an|a)\b))"
    r"(?:\s(?:each|per\s(?:arm|config\w*|setting|level|variant|condition|run)|an?\sarm))?"
    rf"|(?:num_?|n_?)?(?:seeds|num_?seeds|n_?seeds)\s?[=:]\s?(?P<m>{N})(?!\s?(?:,|and|-)\s?\d)"
    rf"|(?:(?<=,\s)|(?<=^)|(?<=;\s))seeds\s(?P<l>{N})(?=\s?(?:,|;|$))"
)
_LISTED_SEEDS = phrase(r"seeds?\s?[=:]?\s?\d+(?:(?:\s?(?:,|and|or|-|to)\s?|\s)\d+)+")
_SEED = phrase(r"(?:(?:with|at|under|using)\s)?(?:the\s|random\s)?seed\s?[=:]?\s?(?P<n>\d+)")
_OF_FACTORS = r"sft|supervised|warm|stale|lag|imitation|off|behind|old|per|between|late"
_STEPS = phrase(
    rf"(?:(?:in|for|over|after|within|with|using|of|at|run|running)\s)?(?:only\s|just\s|about\s)?"
    rf"(?P<n>{N})[-\s]?"
    r"(?P<of>(?:training|optimi[sz]er|rl|grpo|ppo|gradient|policy|update)[-\s])?"
    rf"(?<!sft\s)steps?(?P<rl>\sof\s(?:rl|grpo|ppo|training|reinforcement(?:\slearning)?))?"
    rf"(?![-\s](?:of\s(?:{_OF_FACTORS})|{_OF_FACTORS}))"
    r"(?:\s(?:each|long|in\sall|total))?"
    rf"|(?:max_|total_|train(?:ing)?_|num_|number\sof\s)?steps\s?[=:]?\s?(?P<m>{N})"
)
#: When something happened in other runs.
_STORY = phrase(
    r"(?:collaps|diverg|crash|fail|appear|plateau|blow|blew|degrad|stall|spik|drop|forget|explod|saturat|overfit)\w*"
    rf"(?:\s(?!with|if|when|for|in\b)\w+){{0,3}}?\s(?:after|at|around|by|near|past|within|before)\s(?:about\s|around\s|roughly\s|step\s|~\s?)*"
    rf"{N}(?:\s(?:training\s|rl\s)?steps)?"
)
_PER_RUN = phrase(
    rf"{N}[-\s]?{r'(?:sec(?:ond)?s?|min(?:ute)?s?|hours?|hrs?|h)'}\s(?:per|a|each|an?)\s?(?:run|arm|trial|seed|job)?"
)
#: Several lengths: `100 vs 400 steps`.
_LENGTHS = phrase(
    rf"{N}(?:\s?steps)?(?:\s?(?:,|vs\.?|versus|or|and|to|than|/)\s?{N})+\s?(?:training\s|rl\s)?steps"
    rf"|steps\s?[=:]?\s?{N}(?:\s?(?:,|vs\.?|versus|or|and|to|/)\s?{N})+"
)
#: Words of factors that are counted in steps too.
_STEP_FACTORS = re.compile(
    r"warm[-\s]?up|sft|supervised|imitation|cold\sstart|stale\w*|\blag\b|off[-\s]policy|delay|async\w*",
    re.IGNORECASE,
)
_NOT_STEPS = re.compile(
    r"(?:warm[-\s]?up|sft|supervised|stale\w*|lag|off[-\s]policy|delay|every|async\w*)\W+"
    r"(?:(?!\d)\w+\W+){0,2}?(?:\d[\w.-]*\s*(?:,|/|vs\.?|versus|or|and|to)\s*)*$"
    r"|(?:\bvs\.?|\bversus|\bor|\bthan)\s*$",  # the level after another
    re.IGNORECASE,
)
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_TIME = r"(?:s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?)"
_LONG_TIME = r"(?:sec(?:ond)?s?|min(?:ute)?s?|hours?|hrs?|h|days?)"
_BUDGET = phrase(
    rf"(?:(?:with)?in|under|at\smost|for|budget(?:\s?[=:]|\sof)?|less\sthan|no\smore\sthan|max(?:imum)?|up\sto|takes?)"
    rf"\s?(?:a\sbudget\sof\s|about\s)?(?P<n>{N}|an?|half\san?)[-\s]?(?P<u>{_TIME})(?:\s(?:budget|total|in\sall|of\scompute))?"
    rf"|(?P<m>{N})[-\s]?(?P<v>{_TIME})\s(?:budget|limit)"
    rf"|(?P<a>{N})[-\s]?(?P<b>{_LONG_TIME})(?!\s(?:per|each|a\sstep|between))"
)
_EQUAL = phrase(
    r"(?:at|for|under|with|given)?\s?(?:equal|equali[sz]ed|same|matched|iso|fixed|a\sfixed|the\ssame)[-\s]"
    r"(?P<what>wall[-\s]?clock(?:\stime)?|time|(?:total\s|training\s|generated\s)?tokens?|flops?|compute|gpu[-\s]?(?:hours|time)|cost)"
    r"(?:\sbudget)?"
    r"|per\s(?P<per>wall[-\s]?clock|gpu[-\s]?hour|flops?|second|unit\sof\scompute)"
)
_GPU_TIME = phrase(r"\d[\d.]*\s?(?:gpu|accelerator|node)[-\s]?(?:hours?|days?|h)")
#: What arms have in common at any rate.
_ALIKE = phrase(
    r"(?:(?:at|for|under|with|given|by)\s)?(?:an?\s|the\s)?(?:equal|same|matched|identical|fixed|constant)\s"
    r"(?:(?:total\s|overall\s)?number\sof\s|(?:total|training|policy)\s)?"
    r"(?P<what>steps|optimi[sz]er\ssteps|gradient\ssteps|rollouts|samples|completions|episodes|generations|updates|prompts|data|seeds)"
    r"(?:\sper\s(?:batch|step))?(?!\s*\(?\s*\d|\s(?:of\s)?\d|\sper\s(?:batch|step)\s*\(?\d)"
)
_EPOCHS = phrase(
    rf"(?:(?:for|after|in|over)\s)?(?P<n>{N})\s(?:full\s|data(?:set)?\s|training\s)?epochs?(?!\s(?:per|a|over|on)\s(?:a\s|each\s|one\s)?batch)"
)
#: Beside these, epochs are passes over a batch.
_ON_A_BATCH = re.compile(r"\bmini-?\s?batch|\bppo\b|\bclip|\binner\b|\bmu\b", re.IGNORECASE)
_CONTEXT = phrase(
    r"(?:(?:at|with|under|using)\s)?(?:an?\s)?(?P<n>\d+k?)[-\s]?(?:tokens?\s)?"
    r"(?:context(?:\slength|\swindow)?|ctx|response\slength|completion\slength|token\s(?:budget|limit|responses|completions|answers))"
)
_MOST_TOKENS = phrase(
    r"(?:(?:at|with|under|using)\s)?max(?:imum)?(?:\sof)?\s(?P<n>\d+)\s(?:new\s)?tokens(?!\s?(?:,|vs|or|and)\s?\d)"
)
_BEFORE_LENGTH = re.compile(
    r"\d+k?\s*(?:vs\.?|versus|or|and|to|,|/)\s*\d+k?[-\s](?:tokens?\s)?(?:context|ctx|response)",
    re.IGNORECASE,
)
_PRECISIONS: Mapping[str, str] = {
    "bf16": "bfloat16",
    "bfloat16": "bfloat16",
    "fp32": "float32",
    "float32": "float32",
}
_P = r"(?:bf16|bfloat16|fp32|float32|fp16|float16|fp8|nf4|int8|int4|[48][-\s]?bit)"
_PRECISION = phrase(
    rf"(?:in\s)?(?P<p>{_P}(?:\s?(?:,|/|vs\.?|versus|or|and|against)\s?{_P})*)(?:\sprecision)?"
)


@dataclass
class Circumstances:
    """What a topic says of how a study runs. `max_tokens` is the length of answers, `precisions`
    those that are named, `equal` what arms are said to have in common, `told` what is said to have
    happened elsewhere."""

    measured: Measured = field(default_factory=Measured)
    seeds: int | None = None
    seed: int | None = None
    steps: int | None = None
    budget_seconds: float | None = None
    max_tokens: int | None = None
    precisions: tuple[str, ...] = ()
    equal: tuple[str, ...] = ()
    told: tuple[str, ...] = ()


def circumstances(text: Text) -> Circumstances:
    """Take what is said of a study's course out of a topic. Raises Refusal for what no study here
    can honour, naming it and what to say instead."""
    _refuse_equal(text)
    found = Circumstances()
    found.equal = _alike(text)
    found.measured = measured(text)
    found.told = _take_stories(text)
    found.budget_seconds = _budget(text)
    found.seeds = one_of(text, _SEEDS, "seeds", whole)
    found.seed = _seed(text)
    found.steps = _steps(text)
    for match in () if _ON_A_BATCH.search(text.left) else text.take(_EPOCHS):
        raise Refusal(
            "topic",
            f"{match[0].strip()!r}: a run is measured in steps, not in passes over the data",
            "say 'for N steps', or 'N updates per batch'",
        )
    if not _BEFORE_LENGTH.search(text.left):  # else levels of the generation budget
        found.max_tokens = one_of(text, _CONTEXT, "length", _tokens)
        found.max_tokens = found.max_tokens or one_of(text, _MOST_TOKENS, "length", whole)
    found.precisions = _precisions(text)
    if found.seeds is not None and found.seeds < 2:
        raise Refusal("topic", "one seed shows no spread", "ask for 2 seeds or more")
    return found


def _take_stories(text: Text) -> tuple[str, ...]:
    """What is told of other runs: `they collapse after 150 steps`."""
    return tuple(" ".join(match[0].split()) for match in text.take(_STORY))


def _tokens(said: str) -> int:
    """Tokens: `32k` is 32 x 1024, as context lengths are named."""
    return whole(said[:-1]) * 1024 if said.lower().endswith("k") else whole(said)


def _seed(text: Text) -> int | None:
    """The seed that all others derive from."""
    for match in text.take(_LISTED_SEEDS):
        many = len(re.findall(r"\d+", match[0]))
        raise Refusal(
            "topic",
            f"it lists seeds ({match[0].strip()!r}), and a study derives its own from one",
            f"say how many, as in 'with {many} seeds', and --seed N for the one",
        )
    values = {int(match["n"]): match[0].strip() for match in text.take(_SEED)}
    return single(values, "seed", least=0)


def _alike(text: Text) -> tuple[str, ...]:
    kinds = {
        "samples": "rollouts",
        "optimizer steps": "updates",
        "gradient steps": "updates",
        "completions": "rollouts",
        "episodes": "rollouts",
    }
    found = [match["what"].lower().replace("mis", "miz") for match in text.take(_ALIKE)]
    return tuple(dict.fromkeys(kinds.get(what, what) for what in found))


def _steps(text: Text) -> int | None:
    """Steps of training; those of warm-up, SFT or staleness are left to their factors."""
    shared = _STEP_FACTORS.search(text.whole) is not None
    found: dict[int, str] = {}
    if not shared and (match := _LENGTHS.search(text.left)) and not _is_listed(text, match):
        raise Refusal(
            "topic",
            f"it compares lengths of training ({match[0].strip()!r}); a study has one",
            "ask for the longest and read its curve, or start a study for each",
        )
    for match in list(_STEPS.finditer(text.left)):
        if shared and not (match["of"] or match["rl"]) and _NOT_STEPS.search(text.before(match)):
            continue
        text.blank(*match.span())
        found[whole(match["n"] or match["m"])] = match[0].strip()
    return single(found, "steps")


def _is_listed(text: Text, match: re.Match[str]) -> bool:
    """`group size 4, 100 steps`: the number before the comma is another setting's."""
    name = re.search(r"([a-z_]+)\s*[=:]?\s*$", text.left[: match.start()], re.IGNORECASE)
    known = name is not None and set(words(name[1])) <= vocabulary()
    return known and re.match(rf"{N}\s*,", match[0]) is not None


def _budget(text: Text) -> float | None:
    for match in text.take(_GPU_TIME):
        raise Refusal(
            "topic",
            f"it names {match[0].strip()!r}, and a study's budget is time on the clock",
            "say 'within 2 hours', or --budget 2h",
        )
    for match in text.take(_PER_RUN):
        raise Refusal(
            "topic",
            f"{match[0].strip()!r}: a budget is of the whole study",
            "say 'within 2 hours', or --budget 2h; how long a run takes follows from its steps",
        )
    seconds: set[float] = set()
    for match in text.take(_BUDGET):
        pairs = ((match["n"], match["u"]), (match["m"], match["v"]), (match["a"], match["b"]))
        said, unit = next(pair for pair in pairs if pair[0])
        seconds.add(amount(said) * _UNITS[unit[0].lower()])
    if len(seconds) > 1:
        raise Refusal("topic", "it names two lengths of time", "give one, as --budget")
    return next(iter(seconds), None)


def _precisions(text: Text) -> tuple[str, ...]:
    found = []
    for match in text.take(_PRECISION):
        for said in re.findall(_P, match["p"], re.IGNORECASE):
            if said.lower() not in _PRECISIONS:
                raise Refusal(
                    "topic", f"{said} is not a precision of this trainer", "say bf16 or fp32"
                )
            found.append(_PRECISIONS[said.lower()])
    return tuple(dict.fromkeys(found))


def _refuse_equal(text: Text) -> None:
    for match in text.take(_EQUAL):
        raise Refusal(
            "topic",
            f"{match[0].strip()!r}: arms are compared at equal steps and rollouts, and at "
            "nothing else",
            "say 'at equal steps'; reports show tokens and time beside the scores",
        )
