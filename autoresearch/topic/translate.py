"""A topic in the words of other trainers, said in the catalogue's words (`dialects`)."""

import re
from functools import cache

from autoresearch.topic.aliases import aliases
from autoresearch.topic.dialects import KEYS, Key
from autoresearch.topic.words import is_subject, words
from swarm.errors import Refusal

_SPACE = re.compile(r"[-\s]+")
_SECTIONS = (
    "actor_rollout_ref actor rollout algorithm trainer data optim config args critic ref ppo grpo "
    "reward_model actor_optim value"
)
_PREFIX = rf"(?:--)?(?:(?:{_SECTIONS.replace(' ', '|')})\.)*"
#: Spelled with spaces these mean something else.
_NOT_SPACED = frozenset({"kl_penalty", "warmup_steps", "num_warmup_steps", "max_steps"})
#: Words that separate values, and one value: a word, a number, a quoted name.
_AND = r"\s*(?:[,|/]|\bvs\.?|\bversus\b|\bor\b|\band\b|\bagainst\b|\bto\b)\s*"
_VALUE = r"[\"'“”]?(?P<value>[A-Za-z_][\w-]*|\d[\w.]*)[\"'“”]?"
_FIRST, _NEXT = re.compile(rf"\s*{_VALUE}"), re.compile(rf"{_AND}{_VALUE}")
#: `epsilon of 1e-8`, `lambda is 1`.
_COPULA = re.compile(r"^\s+(?:of|is)\s+(?=[\d.])", re.IGNORECASE)
_NUMBERED = re.compile(r"\s*[=:]?\s*\d")
#: Behind a key: more values than one.
_SEVERAL = re.compile(r"\b(?:vs|versus|or|against|than)\b|[,/]\s*[\d.]")
#: verl's two switches side by side ask where the KL stands.
_PLACES = re.compile(
    r"\b(?:[a-z_]+\.)*use_kl_(in_reward|loss)(?:\s*=\s*true)?(?P<beside>(?:\s+[\w.]+\s?=\s?[\w.]+)*)"
    r"\s*(?:vs\.?|versus|or|,|and)\s*(?:[a-z_]+\.)*use_kl_(in_reward|loss)(?:\s*=\s*true)?",
    re.IGNORECASE,
)
_PLACE_OF = {"in_reward": "kl in the reward", "loss": "kl in the loss"}
#: In DPO beta is no coefficient of a KL term.
_DPO = re.compile(r"\bdpo\b", re.IGNORECASE)
_OTHERS = re.compile(r"\b(?:grpo|rloo|ppo|dapo|gspo|cispo|maxrl|reinforce\+\+)\b", re.IGNORECASE)
_BETA = re.compile(r"(?<![\w.])(?:beta|β)(?![\w.]|\s?[12]\b)", re.IGNORECASE)


def _spaced(name: str) -> str:
    """A pattern of a key: as it is written in a config, or in words where no name of the catalogue
    reads the same and a value follows."""
    said = tuple(words(name))
    free = bool(KEYS[name].absent) or said not in _catalogue()
    apart = "_" in name and name not in _NOT_SPACED and free
    in_words = r"[-\s]".join(map(re.escape, name.split("_")))
    follows = (
        r"(?=\s*=|\s*:?\s+(?:of\s+|is\s+)?(?:\d|true\b|false\b|[a-z_-]+\s+(?:vs|versus|or)\b))"
    )
    return re.escape(name) + (rf"|{in_words}{follows}" if apart else "")


@cache
def _key() -> re.Pattern[str]:
    names = "|".join(map(_spaced, sorted(KEYS, key=len, reverse=True)))
    return re.compile(
        rf"(?<![\w.]){_PREFIX}(?P<key>{names})(?![\w.]|-\w)(?P<equals>\s*[=:])?", re.IGNORECASE
    )


@cache
def _catalogue() -> frozenset[tuple[str, ...]]:
    return frozenset(alias.words for alias in aliases())


#: `optim.eps 1e-8 vs optim.eps 1e-5` names one path.
_TWICE = re.compile(
    r"(?P<path>(?<![\w.])[a-z_]+(?:\.[a-z_]+)+)(?P<value>\s*[=:]?\s*[^\s,]+(?:\s+(?:vs\.?|versus|or|and)\s+|,\s*))"
    r"(?P=path)(?![\w.])\s*[=:]?\s*"
)
#: `TIS with a cap of 2`.
_CAP = re.compile(
    r"(?P<tis>\b(?:tis|truncated\s(?:importance\ssampling|is)))[-\s](?:with\s)?(?:an?\s)?"
    r"(?:cap|threshold|clip|bound)\s*(?:of\s|at\s|=\s?)?(?=\d)",
    re.IGNORECASE,
)
_SECOND_CAP = re.compile(
    r"(\b(?:cap|threshold|algorithm\.correction\.high)\s+[\d.]+\s(?:vs\.?|versus|or|and|against)\s)"
    r"(?:cap|threshold)\s(?:of\s)?(?=\d)",
    re.IGNORECASE,
)
#: What follows an answer that its budget ended.
_BOOTSTRAP = re.compile(
    r"\bbootstrap\w*(?:\s(?!or\b|vs\b)\w+){0,5}\s(?:or|vs\.?|versus)\s(?:\w+\s){0,4}terminal\b",
    re.IGNORECASE,
)
#: Adam's two at once: `betas (0.9, 0.95) vs (0.9, 0.999)`.
_PAIR = r"[(\[]\s*(0?\.\d+)\s*,\s*(0?\.\d+)\s*[)\]]"
_BETAS = re.compile(
    rf"\b(?:adamw?\s)?betas?\s*[=:]?\s*{_PAIR}(?:\s*(?:vs\.?|versus|or|against)\s*{_PAIR})?",
    re.IGNORECASE,
)
#: `50 steps of SFT at lr 1e-5`: the rate of the SFT.
_SFT_RATE = re.compile(
    r"(?P<sft>\bsft(?:[-\s](?:warm[-\s]?up|steps|phase))?)\s(?:at|with)\s(?:an?\s)?(?:lr|learning\srate)\s(?:of\s)?(?=\d)",
    re.IGNORECASE,
)
#: GSPO's question in words.
_TOKEN, _SEQUENCE = (
    r"(?:per[-\s])?token(?:[-\s](?:level|wise))?",
    r"(?:per[-\s])?sequence(?:[-\s](?:level|wise))?",
)
_OR, _OF = (
    r"\s(?:vs\.?|versus|or|against)\s(?:the\s|at\sthe\s)?",
    r"\s(?:importance\s)?(?:ratios?|importance\s(?:sampling|weights?|weighting))",
)
_WEIGHTS = (
    r"(?:importance\s(?:ratios?|sampling|weights?|weighting)\s)"
    r"(?:at\sthe\s|per\s|by\s|over\sthe\s)?"
)
_LEFT, _RIGHT = r"(?:\slevel)?(?:\s\((?:gspo|grpo)\))?", r"(?:\slevel)?(?:\s\((?:gspo|grpo)\))?"
_RATIO = re.compile(
    rf"\b(?:{_TOKEN}(?:{_OF})?{_LEFT}{_OR}{_SEQUENCE}{_OF}|{_WEIGHTS}{_TOKEN}{_LEFT}{_OR}{_SEQUENCE}{_RIGHT})",
    re.IGNORECASE,
)
_RATIO_BACK = re.compile(
    rf"\b(?:{_SEQUENCE}(?:{_OF})?{_LEFT}{_OR}{_TOKEN}{_OF}|{_WEIGHTS}{_SEQUENCE}{_LEFT}{_OR}{_TOKEN}{_RIGHT})",
    re.IGNORECASE,
)
#: DAPO's soft penalty over a part of the budget: `over the last 20% of the budget`.
_OVERLONG_SHARE = re.compile(
    r"\b(?:soft[-\s])?overlong[-\s](?:penalt\w+|punishment|shaping)\s(?:over|in|on|within|for|with)\s(?:an?\s)?"
    r"(?:the\s)?(?:last\s)?(?P<share>\d+)%(?:\sbuffer)?(?:\sof\s(?:the\s)?(?:\w+\s)?(?:budget|tokens|length))?",
    re.IGNORECASE,
)
#: The same, where no number says otherwise.
_OVERLONG = re.compile(
    r"\b(?:soft[-\s])?overlong[-\s](?:penalt\w+|punishment|(?:reward\s)?shaping|reward)"
    r"(?:\s+on\s+(?:or|vs\.?|versus|and)\s+off)?(?!\s*[=:]?\s*\d)",
    re.IGNORECASE,
)


def in_own_words(topic: str) -> str:
    """The topic with the settings of other trainers in the catalogue's words. Raises Refusal for a
    setting or a value that has no counterpart."""
    topic = _PLACES.sub(_placed, topic)
    topic = _CAP.sub(r"\g<tis> with algorithm.correction.high ", topic)
    topic = _SECOND_CAP.sub(r"\1", topic)
    topic = _BOOTSTRAP.sub("algorithm.value.truncation bootstrap vs terminal ", topic)
    topic = _BETAS.sub(_betas, topic)
    topic = _SFT_RATE.sub(r"\g<sft> with warmup.lr ", topic)
    topic = _RATIO.sub("algorithm.ratio token vs sequence", topic)
    topic = _RATIO_BACK.sub("algorithm.ratio sequence vs token", topic)
    topic = _OVERLONG_SHARE.sub(_share, topic)
    topic = _OVERLONG.sub(_penalty, topic)
    if _DPO.search(topic) and not _OTHERS.search(topic):
        topic = _BETA.sub("algorithm.beta", topic)
    keys = [match for match in _key().finditer(topic) if _is_key(match, topic)]
    names = [_SPACE.sub("_", match["key"].lower()) for match in keys]
    ends = [*(match.start() for match in keys[1:]), len(topic)]
    said, place = "", 0
    for match, name, end in zip(keys, names, ends[: len(keys)], strict=True):
        key = KEYS[name]
        if key.absent:
            raise Refusal("topic", f"{match['key']!r} is not a setting here", key.absent)
        behind = topic[match.end() : end]
        once = len(names) > 1 and names.count(name) == 1
        alone = once and match["equals"] and not _SEVERAL.search(behind)
        behind = _COPULA.sub("", behind)
        said += topic[place : match.start()] + f"{' with' if alone else ''} {key.words} "
        said += _values(name, key, behind, assigned=match["equals"] is not None)
        place = end
    said = " ".join((said + topic[place:]).split())
    while (named_once := _TWICE.sub(r"\g<path>\g<value>", said)) != said:
        said = named_once
    return said


def _placed(match: re.Match[str]) -> str:
    beside = f" with {match['beside']}" if match["beside"] else ""
    return f"{_PLACE_OF[match[1].lower()]} vs {_PLACE_OF[match[3].lower()]}{beside}"


def _betas(match: re.Match[str]) -> str:
    """Those that differ are compared, one that does not is held."""
    said = {"adam beta1": (match[1], match[3]), "adam beta2": (match[2], match[4])}
    compared = [f"{name} {a} vs {b}" for name, (a, b) in said.items() if b and a != b]
    held = [f" with {name} {a}" for name, (a, b) in said.items() if not b or a == b]
    return f"{' x '.join(compared)}{''.join(held)} "


def _share(match: re.Match[str]) -> str:
    return f"algorithm.overlong_buffer {int(match['share']) / 100:g}"


def _penalty(match: re.Match[str]) -> str:
    """The overlong penalty as its path, unless the catalogue has a factor of that name."""
    known = tuple(words(match[0])) in _catalogue()
    return match[0] if known else "algorithm.overlong_buffer 0 vs 0.2"


def _is_key(match: re.Match[str], topic: str) -> bool:
    """Whether it is a setting and not a word: it has a mark of one, or a number follows."""
    if not match["key"].isalpha() or match["equals"]:
        return True
    absent = KEYS[match["key"].lower()].absent
    free = bool(absent) or tuple(words(match["key"])) not in _catalogue()
    return free and re.match(r"\s+\d", topic[match.end() :]) is not None


def _values(name: str, key: Key, text: str, *, assigned: bool) -> str:
    """The text behind a key with its values in our words, as far as a list of them reaches."""
    if not key.values:
        return text
    said, place = "", 0
    meanings: dict[str, str] = {}
    pattern = _FIRST
    while match := pattern.match(text, place):
        value = match["value"].lower()
        if value not in key.values:
            if (pattern is _FIRST and not assigned) or not is_subject(value):
                break
            if pattern is _NEXT and _NUMBERED.match(text, match.end()):
                break  # the next setting, with a value of its own
            known = ", ".join(v for v, words_ in key.values.items() if words_)
            raise Refusal("topic", f"{value!r} is no value of {name} here", f"known: {known}")
        meaning = _meaning(name, key, value, meanings)
        between = text[match.start() : match.start("value")].strip("\"'“”")
        said += f"{between.replace('|', ',')} {meaning} "
        place, pattern = match.end(), _NEXT
    return said + text[place:]


def _meaning(name: str, key: Key, value: str, meanings: dict[str, str]) -> str:
    """A value in our words; `meanings` are those of the values before it."""
    meaning = key.values[value]
    if meaning is None:
        known = ", ".join(v for v, words_ in key.values.items() if words_)
        raise Refusal("topic", f"{name}={value} has no counterpart here", f"known: {known}")
    if meanings.get(meaning, value) != value:
        raise Refusal(
            "topic",
            f"{name} {meanings[meaning]} and {value} are the same here ({meaning})",
            "compare others",
        )
    meanings[meaning] = value
    return meaning
