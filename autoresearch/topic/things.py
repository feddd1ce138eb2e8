"""Models, data sets, files, tasks, hardware and libraries that a topic names."""

import re
from dataclasses import dataclass

from autoresearch.topic.stretches import Text, phrase
from swarm import models, tasks

_SIZE = r"\d+(?:\.\d+)?\s?b|\d+(?:\.\d+)?m(?=[-\s](?:model|param|instruct|base))"
_FAMILIES = r"""
    qwen|llama|gemma|mistral|mixtral|ministral|phi|smollm|olmo|deepseek|pythia|tinyllama|falcon|glm|
    kimi|nemotron|gpt|starcoder|codellama|internlm|baichuan|granite|minicpm|stablelm|exaone|claude|
    gemini|mamba|rwkv|vicuna|zephyr|hunyuan|minimax|ernie|yi(?=[-\s]?\d)|t5(?=[-\s])|o[134](?=[-\s])
"""
_TAIL = r"""
    [-_\s]?(?:instruct|base|chat|it|math|coder|distill|zero|mini|small|large|medium|oss|moe|nano|
    r1|qwen|llama|v\d+(?:\.\d+)*|(?:\d+x)?\d+(?:\.\d+)*[bm]?|[a-z]\d+b)(?!\w)
"""
_MODEL = phrase(rf"(?:[\w.-]+/)?(?:{_FAMILIES})\d*(?:\.\d+)*(?:{_TAIL})*")
_BARE_SIZE = phrase(rf"(?:{_SIZE})(?:\s(?:parameters?|params?|models?))?")
_BUILT_IN = phrase("|".join(map(re.escape, models.names())))

_DATA_SETS = phrase(
    r"""
    gsm-?8k|gsm-?hard|gsm-?symbolic|math-500|aime(?:[-\s']?(?:20)?2\d)?|amc(?:[-\s']?(?:20)?2\d)?|
    mmlu(?:[-\s]?pro)?|human-?eval\+?|mbpp\+?|livecodebench|numina-?math(?:-cot)?|open-?r1(?:-math)?(?:-220k)?|
    deepscaler|dapo-(?:math-)?17k|big-?math|orz-?57k|skywork(?:-or1)?|arc-(?:agi|c|e|challenge|easy)|
    hotpot-?qa|trivia-?qa|natural\squestions|squad|if-?eval|alpaca-?eval|arena-?hard|mt-?bench|
    ultra-?feedback|ultra-?chat|hh-rlhf|tl;dr|tldr|gpqa(?:[-\s]diamond)?|bbh|hellaswag|winogrande|
    truthful-?qa|svamp|asdiv|math-?qa|olympiad-?bench|minerva(?:[-\s]math)?|webshop|alfworld|
    swe-?bench(?:[-\s](?:verified|lite))?|tau-?2?-?bench|countdown(?:-\d)?|sokoban|reasoning-?gym|
    code-?contests|leetcode|musique|2wiki|browsecomp|search-?qa|openbookqa|commonsense-?qa|boolq|
    wildchat|sharegpt|open-?assistant|oasst\d?|mathvista|geometry3k|openthoughts|s1k|imdb|codeforces|
    webarena|textworld|frozenlake|blackjack|lmsys|toolbench|bfcl|appworld|miniwob
    """
)
_BENCHMARKS = phrase(r"MATH(?:[-\s]?\d{3})?|ARC|APPS|TACO|NQ|DROP|LIMO|PRM800K", case=True)

_FILE = re.compile(r"(?<![\w/.~-])[~\w./-]+\.(?:jsonl|json|parquet|csv|py:\w+)(?!\w)")
_EVALUATED = re.compile(
    r"(?:test|eval|validat|score|held[-\s]out|generali[sz])\w*(?:\s+(?!train)[\w@-]+){0,3}\s*$",
    re.IGNORECASE,
)

_HARDWARE = phrase(
    r"""
    (?:\d+\s?x?\s?)?(?:nvidia\s)?(?:[habv][12]00s?|gh200|l40s?|rtx[-\s]?\d{4}|[345]090s?|mi\d{3}x?|
    tpus?(?:[-\s]?v\d\w*)?)
    |(?:\d+|one|two|four|eight|a|single|multi(?:ple)?)[-\s]?(?:gpus?|nodes?|accelerators?)
    """
)
_LIBRARIES = phrase(
    r"(?:in|with|using|like|as\sin|via|by|under|from)\s+"
    r"(?:trl|verl|openrlhf|prime-?rl|tinker|unsloth|axolotl|nemo-?rl|rllm|slime|areal|"
    r"vllm|sglang|deepspeed|fsdp|megatron)"
)
_TASK = phrase(
    rf"(?:(?:on|for|with)\s)?(?:the\s)?(?P<task>{'|'.join(tasks.names())})\stask"
    rf"|(?:on|for)\s(?:the\s)?(?P<alone>{'|'.join(tasks.names())})"
    r"(?=\s*(?:$|[,.;?!)]|with|at|using|in|and|for|over|after))"
)


@dataclass(frozen=True)
class Things:
    """What a topic names beside settings, in the user's words. `data` is trained on or just named,
    `tested` evaluated on; both hold names of data sets and paths of files."""

    models: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    tested: tuple[str, ...] = ()
    task: str | None = None
    hardware: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()


def is_file(name: str) -> bool:
    """Whether a thing is the path of a file rather than a name."""
    return _FILE.fullmatch(name) is not None


def plain(name: str) -> str:
    """A name without case and punctuation: `Qwen2.5-1.5B` and `qwen2.5_1.5b` are one."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def things(text: Text) -> Things:
    """Take the names of things out of a topic."""
    data: list[str] = []
    tested: list[str] = []
    for pattern in (_FILE, _DATA_SETS, _BENCHMARKS):
        for match in text.take(pattern):
            evaluated = _EVALUATED.search(text.before(match))
            (tested if evaluated else data).append(match[0].strip())
    named = [match[0].lower() for match in text.take(_BUILT_IN)]
    hardware = tuple(match[0].strip() for match in text.take(_HARDWARE))
    for pattern in (_MODEL, _BARE_SIZE):
        named += [match[0].strip() for match in text.take(pattern)]
    asked = [match["task"] or match["alone"] for match in text.take(_TASK)]
    return Things(
        models=tuple(dict.fromkeys(named)),
        data=tuple(dict.fromkeys(data)),
        tested=tuple(dict.fromkeys(tested)),
        task=asked[0].lower() if asked else None,
        hardware=hardware,
        libraries=tuple(match[0].split()[-1] for match in text.take(_LIBRARIES)),
    )
