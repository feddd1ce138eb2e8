"""What researchers ask for that this trainer does not have, by the names it goes by."""

from autoresearch.topic.stretches import Text, phrase
from swarm.errors import Refusal

#: Why there is none, what it is called, and what to ask instead.
_ABSENT: tuple[tuple[str, str, str], ...] = (
    (
        "for which the trainer has no preset",
        r"reinforce(?!\+\+|[-_\s]?(?:pp|plus|leave|loo)|ment|d\b|s\b|\s\w+\s(?:behaviou?r|answers))",
        "ask for the baseline instead: 'no baseline against a group baseline'",
    ),
    (
        "which needs a teacher, and training here has none",
        r"(?:on[-\s]policy\s)?(?:self[-\s])?distill(?:ation|ing|ed|s)?|opd|gkd|minillm|teacher(?:\smodel)?",
        "imitate a teacher's answers by SFT: rows with `demonstration`, `swarm sft`",
    ),
    (
        "and training here learns from rewards, not from what was chosen before",
        r"kto|orpo|ipo|simpo|slic|rrhf|cpo|rdpo|xpo|nash[-\s]?md|raft|rft|rejection\s(?:sampling|fine[-\s]?tuning)|expert\siteration|rest[-\s]?em|offline\s(?:dpo|rl)|best[-\s]of[-\s](?:n|\d+)|star(?=\s(?:method|algorithm))",
        "ask for online DPO, or for SFT on rows that you chose",
    ),
    (
        "for which the trainer has no preset",
        r"vapo|gigpo|sapo|luspo|vespo|dpo-positive|dpop|gspo-token|dcpo|asympo|kimi\sk[12](?:\.5)?\salgorithm|remax|reinforce-?ada|vineppo|gpg|cppo|gmpo|geo-?grpo|drpo|opo|grpo-?lambda|prime(?=\salgorithm)|srpo|litppo|"
        r"gfpo|arpo|trpo|a2c|a3c|sac|td3|dqn|impala|v-?trace|awr|awac|cql|iql|ilql|rlaif|evolution(?:ary)?\sstrateg\w+|es(?=\svs)",
        "see `autoresearch playbook show estimators` for the algorithms that there are",
    ),
    (
        "and answers here are sampled, not searched for",
        r"mcts|tree\ssearch|monte[-\s]carlo\stree|beam\ssearch|tree\sof\sthoughts?|self[-\s]consistency|majority\svot\w+",
        "ask for pass@k",
    ),
    (
        "and a reward here is one number for an answer",
        r"prms?|process(?:[-\s]based)?\s(?:rewards?|supervision|advantages?)(?:\smodels?)?|outcome\sreward\smodels?|orm|step[-\s](?:level|wise)\srewards?|"
        r"reward\smodels?(?!\s?over)|llm[-\s]as[-\s]a?[-\s]?judge|judge\smodel|rubrics?(?:\srewards?)?|genrm|bradley[-\s]terry",
        "write it as a reward of your own: --reward file.py:function",
    ),
    (
        "and an episode here has one turn",
        r"multi[-\s]?turn|multi[-\s]?agents?|self[-\s]play|tool[-\s](?:use|calls?|calling)|tools?|function\scalling|"
        r"code\sinterpreter|search\stool|browser|agentic|debate|turn[-\s]level(?:\s\w+)?",
        "ask about single-turn rollouts",
    ),
    (
        "which the trainer does not do to a model",
        r"quanti[sz](?:ation|ed|ing)|qlora|dora|rslora|pissa|loha|adalora|ia3|prefix[-\s]tuning|prompt[-\s]tuning|"
        r"merg(?:e|ed|ing)\smodels?|model\s(?:merging|soup\w*|averaging)|ema(?:\sof\sweights)?|pruning|"
        r"(?:critic|value(?:[-\s]head)?)[-\s](?:warm[-\s]?up|pre-?training)(?:\ssteps)?|drop[-\s]?out|weight\snoise|layer\sfreezing|freez(?:e|ing)\s\w+\slayers?|moe\srouting|routing\sreplay|router\sreplay|speculative\s\w+",
        "compare LoRA with full weights, ranks, or target layers",
    ),
    (
        "and the optimizer is AdamW",
        r"muon|sgd|schedule[-\s]free|lion|adafactor|sophia|shampoo|soap(?=\s(?:optimi|vs))|lamb|rmsprop|8-?bit\sadam|galore",
        "ask about its rate, betas or weight decay",
    ),
    (
        "and rollouts are drawn from the policy itself",
        r"top[-_\s]?[pk](?:\s?[=:]?\s?[\d.]+)?|nucleus(?:\ssampling)?|min[-_]p|repetition\spenalty|typical\ssampling",
        "ask about the temperature",
    ),
    (
        "which has no gradient as a loss",
        r"k1(?!\sk2|\sin\s(?:the\s)?rewards?|\sin[-\s]reward)",
        "compare k2 (reverse KL) with k3 (forward KL), or put the KL in the reward",
    ),
    (
        "which no study measures",
        r"throughput|latency|memory(?:\s(?:use|usage|footprint))?|vram|tokens?\s(?:per|a|/)\s?s(?:ec(?:ond)?)?|"
        r"(?:wall[-\s]?clock|training|sampling|generation)\s(?:speed|time)|gpu\sutili[sz]ation|mfu|which\sis\sfaster|energy|sample\sefficiency|area\sunder\s(?:the\s)?(?:learning\s|reward\s)?curve|auc|"
        r"(?:worst|best)\sseed|best\scheckpoint|(?:time|steps)\sto\s(?:reach|converge|convergence)|number\sof\scollaps\w+(?:\sruns)?|final\sreward|"
        r"(?:variance|spread)\s(?:across|over|between)\sseeds",
        "hypotheses are on accuracy, rewards, entropy, KL or lengths; reports show time too",
    ),
    (
        "and when a study stops is registered with its profile",
        r"(?:and\s)?(?:stop\w*\searly|early[-\s]stop\w*|stop\s(?:as\ssoon|once|when|if)\b[\w\s]*)",
        "take --profile full, which looks at 5, 10 and 15 seeds and stops once it can decide",
    ),
    (
        "which says no value",
        r"doubl(?:e|ing)\s\w+|halv(?:e|ing)\s\w+|half\sthe|half\sas\s\w+|twice\s(?:the|as)|tripl(?:e|ing)\s\w+|quadrupl\w+|"
        r"\d+(?:\.\d+)?\s?x\s(?:the|as|larger|more|higher|smaller|lower|fewer|less)|\d+%\s(?:more|less|fewer|higher|lower)",
        "say the values, as in 'group size 8 vs 16'",
    ),
    (
        "for which there is no schedule here",
        r"wsd|warmup[-\s]stable[-\s]decay|polynomial(?:\sdecay|\sschedule)?|inverse[-\s]square[-\s]root|one[-\s]?cycle|"
        r"exponential\sdecay|(?:cosine\swith|warm)\srestarts?|(?:temperature|kl|clip|entropy|length|group[-\s]size|beta)[-\s](?:schedul\w+|anneal\w*|decay)|"
        r"(?:schedul|anneal|decay)(?:ed|ing|e)\s(?:the\s)?(?:temperature|kl|clip\w*|entropy(?:\sbonus)?|group\ssize|max\slength)",
        "schedules are constant, linear or cosine, of the learning rate alone",
    ),
    (
        "which is none of the corrections here",
        r"mis(?=\s|$)|masked\sis|geometric\smask\w*|sequence[-\s]level\s(?:tis|importance\scorrection)|opsm|off-policy\ssequence\smask\w*",
        "ask about TIS, IcePop, a token mask or a sequence mask",
    ),
    (
        "which is none of the rewards here",
        r"random\srewards?|spurious\srewards?|inverted\srewards?|negative\srewards?|length\s(?:penalty|reward|bonus)|"
        r"intrinsic\srewards?|curiosity|confidence\srewards?|entropy\srewards?|learned\srewards?|"
        r"multi[-\s]?objective|reward\s(?:weights?|ensembl\w+|clipping|scaling|normali[sz]ation\sby\srunning\s\w+)",
        "compare exact, partial, format and proxy rewards, or write one: --reward file.py:function",
    ),
    (
        "and training here uses all samples of a batch",
        r"positive[-\s]only|negative[-\s]only|only\s(?:positive|negative|correct|wrong)\s(?:samples|answers|rollouts)|"
        r"(?:negative|positive)[-\s]sample\sreinforcement|replay\s(?:buffers?|memory)|experience\sreplay|"
        r"prioriti[sz]ed\s\w+|partial\srollouts?|data\saugmentation",
        "ask about the group filter or the order of prompts",
    ),
    (
        "for which there is no setting here",
        r"clip[-_]cov|kl[-_]cov|entropy\s(?:targets?|adaptive|advantage)|adaptive\s(?:entropy|kl)|high[-\s]entropy\stokens?|"
        r"forking\stokens?|80/20\srule|token\smasking\sby\sentropy|mask(?:ing|ed)?_?\s?(?:truncated|overlong)[\w\s]*?(?:completions?|answers?|responses?|samples?)?|"
        r"mask_truncated_completions|overlong\s(?:filter\w*|mask\w*)|reference\s(?:resets?|model\sresets?|sync\w*)|ref\sreset\w*",
        "ask about the entropy bonus, clip-higher or the overlong penalty",
    ),
)
_PATTERNS = tuple((phrase(pattern), why, instead) for why, pattern, instead in _ABSENT)


def refuse_absent(text: Text) -> None:
    """Raise Refusal where a topic asks for a method that the trainer does not have."""
    for pattern, why, instead in _PATTERNS:
        if match := pattern.search(text.left):
            said = " ".join(match[0].split())
            raise Refusal("topic", f"it asks for {said!r}, {why}", instead)
