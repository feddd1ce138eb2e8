"""Whether a topic is English, the one language that topics are read in."""

import re

#: Scripts of other languages, and words that carry a sentence in them.
_LETTERS = re.compile(
    r"[\u0400-\u052f\u0590-\u05ff\u0600-\u06ff\u0900-\u0dff\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
_FOREIGN = frozenset(
    [
        "der",
        "die",
        "das",
        "ist",
        "und",
        "oder",
        "nicht",
        "welche",
        "welcher",
        "wie",
        "mit",
        "für",
        "hilft",
        "besser",
        "als",
        "eine",
        "einen",
        "bei",
        "auf",
        "von",
        "zu",
        "zum",
        "est",
        "les",
        "une",
        "des",
        "dans",
        "avec",
        "pour",
        "sur",
        "quelle",
        "quel",
        "ou",
        "et",
        "améliore",
        "mieux",
        "que",
        "ça",
        "le",
        "la",
        "el",
        "los",
        "las",
        "una",
        "con",
        "para",
        "qué",
        "cuál",
        "mejor",
        "es",
        "mejora",
        "por",
        "del",
        "y",
        "como",
        "il",
        "lo",
        "gli",
        "che",
        "di",
        "per",
        "quale",
        "meglio",
        "della",
        "sono",
        "migliora",
        "o",
        "os",
        "uma",
        "com",
        "qual",
        "melhor",
        "não",
        "de",
        "do",
        "da",
        "em",
        "een",
        "het",
        "wat",
        "welke",
        "beter",
        "helpt",
        "van",
        "voor",
        "czy",
        "jest",
        "lepszy",
        "lepsze",
        "jaki",
    ]
)
_SHARED = frozenset(
    {
        "a",
        "die",
        "is",
        "in",
        "as",
        "o",
        "do",
        "no",
        "per",
        "del",
        "como",
        "la",
        "le",
        "de",
        "es",
        "y",
        "con",
        "van",
        "so",
    }
)
_ENGLISH = re.compile(
    r"\b(?:the|does|is|are|do|of|to|with|at|for|on|in|better|than|and|or|vs|versus|help|should|how|what|which|when|under|compare|effect|sweep|without|no)\b",
    re.IGNORECASE,
)


def is_english(topic: str) -> bool:
    """Whether a topic can be read as English: names, numbers and Greek letters are neutral."""
    if len(_LETTERS.findall(topic)) >= 2:
        return False
    words = re.findall(r"[^\W\d_]+", topic.lower())
    foreign = [word for word in words if word in _FOREIGN - _SHARED]
    weak = [word for word in words if word in _FOREIGN & _SHARED]
    english = len(_ENGLISH.findall(topic))
    score = 2 * len(foreign) + len(weak)
    return score < 2 or score <= 2 * english
