"""What researchers ask for that this trainer does not have, by the names it goes by."""

from collections.abc import Mapping

from autoresearch.topic.stretches import Text, phrase
from swarm.errors import Refusal

#: The method's name, and what to ask instead.
_ABSENT: Mapping[str, tuple[str, str]] = {
    "distillation": (
        r"(?:on[-\s]policy\s)?(?:self[-\s])?distill(?:ation|ing|ed|s)?|opd|gkd|minillm|teacher(?:\smodel)?",
        "imitate a teacher's answers by SFT: rows with `demonstration`, `swarm sft`",
    ),
    "preference learning from pairs": (
        r"kto|orpo|ipo|simpo|slic|rrhf|cpo|rdpo|xpo|nash[-\s]?md|raft|rft|rejection\ssampling|best[-\s]of[-\s](?:n|\d+)|star(?=\s(?:method|algorithm))",
        "ask for online DPO, or for SFT on rows that you chose",
    ),
    "this algorithm": (
        r"vapo|gigpo|remax|reinforce-?ada|vineppo|gpg|cppo|gmpo|geo-?grpo|drpo|opo|grpo-?lambda|prime(?=\salgorithm)|srpo|litppo|"
        r"gfpo|arpo|trpo|a2c|a3c|sac|td3|dqn|impala|v-?trace|awr|awac|cql|iql|ilql|rlaif|evolution(?:ary)?\sstrateg\w+|es(?=\svs)",
        "see `autoresearch playbook show estimators` for the algorithms that there are",
    ),
    "search at inference": (
        r"mcts|tree\ssearch|monte[-\s]carlo\stree|beam\ssearch|tree\sof\sthoughts?|self[-\s]consistency|majority\svot\w+",
        "ask for pass@k",
    ),
    "a process reward": (
        r"prms?|process\s(?:reward|supervision)(?:\smodels?)?|step[-\s](?:level|wise)\srewards?|"
        r"reward\smodels?(?!\s?over)|llm[-\s]as[-\s]a?[-\s]?judge|judge\smodel|rubrics?(?:\srewards?)?|genrm|bradley[-\s]terry",
        "write it as a reward of your own: --reward file.py:function",
    ),
    "several agents or turns": (
        r"multi[-\s]?turn|multi[-\s]?agents?|self[-\s]play|tool[-\s](?:use|calls?|calling)|tools?|function\scalling|"
        r"code\sinterpreter|search\stool|browser|agentic|debate|turn[-\s]level(?:\s\w+)?",
        "episodes here have one turn: ask about single-turn rollouts",
    ),
    "this change of the model": (
        r"quanti[sz](?:ation|ed|ing)|qlora|dora|rslora|pissa|loha|adalora|ia3|prefix[-\s]tuning|prompt[-\s]tuning|"
        r"merg(?:e|ed|ing)\smodels?|model\s(?:merging|soup\w*|averaging)|ema(?:\sof\sweights)?|pruning|"
        r"drop[-\s]?out|moe\srouting|routing\sreplay|router\sreplay|speculative\s\w+",
        "compare LoRA with full weights, ranks, or target layers",
    ),
    "this optimizer": (
        r"muon|sgd|lion|adafactor|sophia|shampoo|soap(?=\s(?:optimi|vs))|lamb|rmsprop|8-?bit\sadam|galore",
        "the optimizer is AdamW: ask about its rate, betas or weight decay",
    ),
    "truncated sampling": (
        r"top[-_\s]?[pk](?:\s?[=:]?\s?[\d.]+)?|nucleus(?:\ssampling)?|min[-_]p|repetition\spenalty|typical\ssampling",
        "rollouts are drawn from the policy itself: ask about the temperature",
    ),
    "this setting of entropy or masks": (
        r"clip[-_]cov|kl[-_]cov|entropy\s(?:targets?|adaptive|advantage)|adaptive\s(?:entropy|kl)|high[-\s]entropy\stokens?|"
        r"forking\stokens?|80/20\srule|token\smasking\sby\sentropy|mask(?:ing|ed)?_?\s?(?:truncated|overlong)[\w\s]*?(?:completions?|answers?|responses?|samples?)?|"
        r"mask_truncated_completions|overlong\s(?:filter\w*|mask\w*)|reference\s(?:resets?|model\sresets?|sync\w*)|ref\sreset\w*",
        "ask about the entropy bonus, clip-higher or the overlong penalty",
    ),
}
_PATTERNS = {name: phrase(pattern) for name, (pattern, _) in _ABSENT.items()}


def refuse_absent(text: Text) -> None:
    """Raise Refusal where a topic asks for a method that the trainer does not have."""
    for name, pattern in _PATTERNS.items():
        if match := pattern.search(text.left):
            said = " ".join(match[0].split())
            raise Refusal("topic", f"the trainer does not have {said!r} ({name})", _ABSENT[name][1])
