"""Models, data sets, files, tasks, hardware and libraries that a topic names."""

import re
from dataclasses import dataclass

from autoresearch.topic.stretches import Text, phrase
from swarm import models, tasks
from swarm.errors import Refusal

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
    r"""(?:[\w.-]+/)?(?:
    gsm-?8k|gsm-?hard|gsm-?symbolic|math-500|aime(?:[-\s']?(?:20)?2\d)?|amc(?:[-\s']?(?:20)?2\d)?|
    mmlu(?:[-\s]?pro)?|human-?eval\+?|mbpp\+?|livecodebench|numina-?math(?:-cot)?|open-?r1(?:-math)?(?:-220k)?|
    deepscaler|dapo-(?:math-)?17k|big-?math|orz-?57k|skywork(?:-or1)?|arc-(?:agi|c|e|challenge|easy)|
    hotpot-?qa|trivia-?qa|natural\squestions|squad|if-?eval|alpaca-?eval|arena-?hard|mt-?bench|
    ultra-?feedback|ultra-?chat|hh-rlhf|tl;dr|tldr|gpqa(?:[-\s]diamond)?|bbh|hellaswag|winogrande|
    truthful-?qa|svamp|asdiv|math-?qa|olympiad-?bench|minerva(?:[-\s]math)?|webshop|alfworld|
    swe-?bench(?:[-\s](?:verified|lite))?|tau-?2?-?bench|countdown(?:-\d)?|sokoban|reasoning-?gym|
    code-?contests|leetcode|musique|2wiki|browsecomp|search-?qa|openbookqa|commonsense-?qa|boolq|
    wildchat|sharegpt|open-?assistant|oasst\d?|mathvista|geometry3k|openthoughts|s1k|imdb|codeforces|
    webarena|textworld|frozenlake|blackjack|lmsys|toolbench|bfcl|appworld|miniwob|
    omni-?math|aqua-?rat|mawps|math23k|proofwiki|minif2f|putnam(?:bench)?|simpleqa|hle|longbench|
    synthetic-1|intellect-2|nemotron-cc|fineweb(?:-edu)?|the\spile|c4(?=\s(?:data|corpus))|slimorca|
    helpsteer\d?|pku-saferlhf|reward-?bench|xsum|cnn/dailymail|ds-?1000|apps(?=\s(?:data|bench))|
    bird(?=\s(?:sql|bench))|spider(?=\s(?:sql|bench|data))|nq-open|bamboogle|eurus-2-rl|polaris-53k|
    open-?math-?(?:instruct|reasoning)(?:-?\d)?|prm800k|knights?-and-knaves|zebra-?(?:logic|puzzles?)
    )
    """
)
_BENCHMARKS = phrase(r"MATH(?:[-\s]?\d{3})?|ARC|APPS|TACO|NQ|DROP|LIMO|PRM800K", case=True)

_FILE = re.compile(r"(?<![\w/.~-])[~\w./-]+\.(?:jsonl|ndjson|json|parquet|arrow|csv|py:\w+)(?!\w)")
_REWARD = re.compile(
    r"(?<![\w/.~-])(?:(?:with|by|using)\s+)?(?:the\s+)?(?:rewards?|scored|graded|judged)\s*"
    r"(?:function\s*)?(?:[:=]|from|in|by|is|of)?\s*(?P<ref>[~\w./-]+\.py:\w+)(?!\w)",
    re.IGNORECASE,
)
_EVALUATED = re.compile(
    r"\b(?:test|eval|validat|score|held[-\s]out|generali[sz])\w*(?:\s+(?!train)[\w@-]+){0,3}\s*$",
    re.IGNORECASE,
)

_HARDWARE = phrase(
    r"""
    (?:\d+\s?x?\s?)?(?:nvidia\s)?(?:[habv][12]00s?|gh200|l40s?|rtx[-\s]?\d{4}|[345]090s?|mi\d{3}x?|
    tpus?(?:[-\s]?v\d\w*)?)
    |(?:\d+|one|two|four|eight|a|single|multi(?:ple)?)[-\s]?(?:gpus?|nodes?|accelerators?)
    (?![-\s]?(?:hours?|days?|h\b))
    """
)
_LIBRARY = (
    r"(?:trl|verl|open-?rlhf|prime-?rl|tinker|unsloth|axolotl|nemo-?rl|rllm|slime|areal|"
    r"torchtune|ms-?swift|skyrl)"
)
_ENGINE = (
    r"(?:vllm|sglang|deepspeed|fsdp\d?|megatron|flash-?attention(?:-\d)?|llama\.cpp|tensorrt-llm)"
)
_LIBRARIES = phrase(
    rf"(?:(?:in|with|using|like|as\sin|via|by|under|from)\s)?(?P<name>{_LIBRARY})(?:'s)?"
    r"(?:\s(?:defaults?|trainer|recipe|settings?|config))?"
)
#: Two of them side by side: no study compares programs.
_COMPARED = phrase(
    rf"(?:{_LIBRARY}|{_ENGINE})\s?(?:vs\.?|versus|or|against|and)\s?(?:{_LIBRARY}|{_ENGINE})|{_ENGINE}"
)
_TASK_NAMES = rf"(?:{'|'.join(tasks.names())})"
_TASKS = rf"{_TASK_NAMES}(?:\s?(?:,|and|or|vs\.?|versus)\s?(?:the\s)?{_TASK_NAMES})*"
_TASK = phrase(
    rf"(?:(?:on|for|with)\s)?(?:the\s)?(?P<task>{_TASKS})\stasks?"
    rf"|(?:on|for)\s(?:the\s)?(?P<alone>{_TASKS})"
    r"(?=\s*(?:$|[,.;:?!)]|(?:with|at|using|in|and|for|over|after|within|under|by|every|while|when|before|"
    r"to|does|do|is|vs|versus|from|then|as|or)\b))"
    rf"|(?P<measured>(?:report|held[-\s]out|test\sset|eval\sset|validation\sset)\s(?:on\s)?{_TASKS})"
    rf"|(?P<data>{_TASK_NAMES})(?=\s(?:accuracy|data|problems|prompts|rows|questions)\b)"
    rf"|(?P<sides>{_TASK_NAMES}\s(?:vs\.?|versus)\s{_TASK_NAMES})"
)


_SAID = ("task", "alone", "sides", "measured", "data")
#: A task's name where nobody took it: `the sort`, `report sort`.
_TASK_LEFT = re.compile(
    rf"(?:\b(?:on|for|report|train|trained|test|tested|set|task|held[-\s]out)\s+)(?P<name>{_TASK_NAMES})\b"
    r"(?!\s+of\b)",
    re.IGNORECASE,
)
#: Data by a name that is none here: `train on add, test on sort`.
_DATA_LEFT = re.compile(
    r"\b(?:train(?:ed|ing)?|test(?:ed|ing)?|evaluat(?:e|ed|ing)|finetun(?:e|ed|ing))\son\s"
    r"(?P<name>[a-z][\w-]*)(?=\s*(?:$|[,.;:?!]|and\b|vs\b|with\b))",
    re.IGNORECASE,
)
_NO_NAMES = frozenset(
    [
        "it",
        "them",
        "that",
        "this",
        "these",
        "those",
        "everything",
        "all",
        "each",
        "both",
        "policy",
        "policies",
        "own",
        "my",
        "our",
        "fresh",
        "stale",
        "old",
        "new",
        "rewards",
        "prompts",
        "data",
        "rows",
        "answers",
        "rollouts",
        "gpu",
        "gpus",
        "cpu",
        "one",
        "two",
    ]
)

#: What a topic cites: nothing of it is read.
_CITED = re.compile(
    r"https?://\S+|\barxiv[:\s]\s?\d{4}\.\d{4,5}(?:v\d+)?|"
    r"\b(?:sections?|sec\.|fig(?:ure|\.)|table|eq(?:uation|\.)|appendix|chapter|page)\s?\d+(?:\.\d+)*\b|"
    r"\bet\sal\.?,?\s?\(?(?:19|20)\d\d\)?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Things:
    """What a topic names beside settings, in the user's words. `data` is trained on or just named,
    `tested` evaluated on; both hold names of data sets and paths of files."""

    models: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    tested: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    rewards: tuple[str, ...] = ()
    hardware: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    cited: tuple[str, ...] = ()


def is_file(name: str) -> bool:
    """Whether a thing is the path of a file rather than a name."""
    return _FILE.fullmatch(name) is not None


def plain(name: str) -> str:
    """A name without case and punctuation: `Qwen2.5-1.5B` and `qwen2.5_1.5b` are one."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def things(text: Text) -> Things:
    """Take the names of things out of a topic."""
    cited = tuple(match[0] for match in text.take(_CITED))
    data: list[str] = []
    tested: list[str] = []
    rewards = [match["ref"] for match in text.take(_REWARD)]
    for pattern in (_FILE, _DATA_SETS, _BENCHMARKS):
        for match in text.take(pattern):
            evaluated = _EVALUATED.search(text.before(match))
            (tested if evaluated else data).append(match[0].strip())
    named = [match[0].lower() for match in text.take(_BUILT_IN)]
    hardware = tuple(match[0].strip() for match in text.take(_HARDWARE))
    for pattern in (_MODEL, _BARE_SIZE):
        named += [match[0].strip() for match in text.take(pattern)]
    asked: list[str] = []
    for match in text.take(_TASK):
        said = next(filter(None, (match[name] for name in _SAID)))
        held_out = match["measured"] or _EVALUATED.search(text.before(match))
        (tested if held_out else asked).extend(
            name.lower() for name in re.findall(_TASK_NAMES, said, re.IGNORECASE)
        )
    for pattern in (_TASK_LEFT, _DATA_LEFT):
        for match in pattern.finditer(text.left):
            if match["name"].lower() not in _NO_NAMES:
                raise Refusal(
                    "topic",
                    f"{match[0].strip()!r} names data that no part of the study takes",
                    "say 'on the sort task' or 'evaluated on sort', or give files: --task, --eval",
                )
    for match in text.take(_COMPARED):
        raise Refusal(
            "topic",
            f"it names {match[0].strip()!r}, and studies run on this trainer and its own engine",
            "leave it out, and ask about settings; see docs/benchmarks.md for speed",
        )
    return Things(
        models=tuple(dict.fromkeys(named)),
        data=tuple(dict.fromkeys(data)),
        tested=tuple(dict.fromkeys(tested)),
        rewards=tuple(rewards),
        tasks=tuple(dict.fromkeys(asked)),
        hardware=hardware,
        libraries=tuple(match["name"] for match in text.take(_LIBRARIES)),
        cited=cited,
    )
