"""Numbers and names in text, read apart from the program's own reader of topics."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping

#: A number that is no part of a word. A hyphen is a sign where no word stands before it.
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.])(?P<sign>(?<![A-Za-z0-9)\]])-)?(?<![A-Za-z0-9_.])"
    r"(?P<digits>\d{1,3}(?:,\d{3})+(?![\d,.])|(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?)"
    r"(?P<unit>\s?%|[kKmM]|min|h|s|x)?(?![A-Za-z0-9_])"
)
#: Words of the field that name no choice.
GENERIC = frozenset(
    ("rl", "rlhf", "rlvr", "llm", "lm", "kl", "lora", "sft", "gae", "adam", "adamw", "reinforce")
) | frozenset(("ppo", "tis", "trl", "verl", "openrlhf", "tinker", "vllm", "gpu", "cpu", "rms"))
#: What a topic compares at, or evaluates by: never a matter of course.
_RULES = re.compile(
    r"wall[- ]clock|flops|compute|multi-turn|greedy|(?:pass|avg|maj|mean)@(?!1\b)\d+", re.IGNORECASE
)
_WORD = re.compile(r"[A-Za-z][\w.+@/-]*")
_SIZE = re.compile(r"\b\d+(?:\.\d+)?B\b")
_FILE = re.compile(r"[\w./-]+\.(?:jsonl|parquet|json|csv|py)\b")


def plain(text: object) -> str:
    """Letters, digits, `.` and `+` alone, in lower case: `Dr. GRPO` is `dr.grpo`."""
    return re.sub(r"[^a-z0-9.+]", "", str(text).lower()).strip(".")


def same(one: object, other: object) -> bool:
    """Whether two values are one: numbers to nine digits, text but for case and signs."""
    if isinstance(one, bool) or isinstance(other, bool):
        return plain(one) == plain(other)
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-15)
    return plain(one) == plain(other)


def numbers(text: str) -> list[tuple[str, tuple[float, ...]]]:
    """Each number as it is written, with the values that it may stand for: `32k` is 32000 or 32768,
    `10%` 0.1 or 10. Digits inside a name are no number."""
    found = []
    for match in _NUMBER.finditer(_without_names(text)):
        value = float(match["digits"].replace(",", "")) * (-1 if match["sign"] else 1)
        found.append((match[0].strip(), tuple(_readings(value, (match["unit"] or "").strip()))))
    return found


def _readings(value: float, unit: str) -> Iterator[float]:
    if unit in ("k", "K"):
        yield from (value * 1000, value * 1024)
    elif unit in ("m", "M"):
        yield from (value * 1e6, value * 2**20)
    elif unit == "%":
        yield from (value / 100, value)
    elif unit == "min":
        yield from (value * 60, value)
    elif unit == "h":
        yield from (value * 3600, value)
    else:
        yield value


def _without_names(text: str) -> str:
    """The text without files and models, in which digits stand after a hyphen or a slash too."""
    for name in [*_FILE.findall(text), *model_names(text), *_SIZE.findall(text)]:
        text = text.replace(name, " ")
    return re.sub(r"\bpass@1\b", " ", text)  # what an accuracy is


_FAMILIES = (
    r"(?:[Rr]1-[Dd]istill-)?(?:qwen|llama|smollm|mistral|gemma|phi|olmo|deepseek|pythia|gpt|"
    r"ministral|falcon|granite|yi)"
)


def model_names(text: str) -> list[str]:
    """Models, by the families that are in use: `Qwen2.5-1.5B-Instruct`, `Llama-3.2-1B`."""
    return [
        match[0].rstrip(".,;:")
        for match in re.finditer(rf"(?:\w+/)?\b{_FAMILIES}[-\w.]*", text, re.IGNORECASE)
        if re.search(r"\d", match[0])
    ]


def names(text: str) -> list[str]:
    """What a topic names: files, models, sizes of models, benchmarks and acronyms, and the rules of
    comparison and evaluation. Keys of configs (`rollout.n=2`) are not among them."""
    found = [*_FILE.findall(text), *model_names(text)]
    rest = text
    for name in found:
        rest = rest.replace(name, " ")
    found += _SIZE.findall(rest)
    found += _RULES.findall(rest)
    for word in (match[0].rstrip(".,;:-/") for match in _WORD.finditer(_RULES.sub(" ", rest))):
        for part in word.split("/"):
            acronym = re.fullmatch(
                r"[A-Z][A-Za-z]*[A-Z]{2,}[+]*|[A-Z]{3,}[+]*|[A-Z][a-z]+[A-Z]\w*", part
            )
            digits = re.search(r"[A-Za-z]\d|\d[A-Za-z]", part) and not re.search(r"[_.@]", part)
            if (acronym or digits) and plain(part) not in GENERIC:
                found.append(part)
    return list(dict.fromkeys(found))


def named(wanted: str, text: str) -> bool:
    """Whether a text names `wanted`; `a|b` is named by either. What is between letters and digits
    is free (`group_std` is `group std`); a word of four letters or more may go on (`distil`)."""
    found = {value for _, values in numbers(text) for value in values}
    for each in wanted.split("|"):
        read = numbers(each)
        if [written for written, _ in read] == [each.strip()]:
            if any(same(value, other) for value in read[0][1] for other in found):
                return True
            continue
        parts = re.findall(r"[a-z]+|\d+|\++", each.lower())
        end = "" if len(plain(each)) > 3 else r"(?![a-z0-9])"
        pattern = r"[^a-z0-9]*".join(map(re.escape, parts))
        if parts and re.search(rf"(?<![a-z0-9]){pattern}{end}", text.lower()):
            return True
    return False


def flat(value: object) -> Iterator[object]:
    """Every scalar in a document."""
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from flat(inner)
    elif isinstance(value, Iterable) and not isinstance(value, str):
        for inner in value:
            yield from flat(inner)
    else:
        yield value
