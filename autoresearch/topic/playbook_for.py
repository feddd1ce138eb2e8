"""Which playbook answers a topic: by phrase, by the factors named, else by full-text search."""

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing

from autoresearch.catalogue import FACTORS
from autoresearch.playbook import Playbook
from autoresearch.topic.aliases import vocabulary
from autoresearch.topic.field import FIELD
from autoresearch.topic.parse import ParsedTopic
from autoresearch.topic.words import find, is_subject, words
from swarm.errors import Refusal, closest

#: The playbook that takes any factors of the catalogue.
SWEEP = "factor-sweep"

#: A search hit must share this part of the topic's subject words, and at least so many.
_SHARE, _LEAST = 0.6, 2
#: How alike a misspelt word must be to one of the catalogue.
_SPELLING = 0.8

#: Names of factors and levels that are everyday words too.
_EVERYDAY = frozenset(word for known in FACTORS.values() for word in words(known.everyday))

#: Words that place a topic in the field.
_FIELD_TEXT = """
rl rlhf rlvr llm training train policy model reward finetuning sampling rollout reinforcement
learning gradient run seed agent reasoning post optimizer
"""
_FIELD = frozenset(words(_FIELD_TEXT))


def playbook_for(parsed: ParsedTopic, playbooks: Sequence[Playbook]) -> Playbook:
    """The playbook for a topic. Raises Refusal naming the nearest playbooks when none fits."""
    if not set(parsed.words) - {","}:
        raise Refusal("topic", "it holds no words", _nearest(parsed, playbooks))
    _refuse_everyday(parsed, playbooks)
    factors = frozenset(parsed.factors)
    by_phrase = _by_phrase(parsed.words, playbooks)
    if by_phrase and (not factors or factors <= _factors(by_phrase)):
        return by_phrase
    if factors:
        for playbook in playbooks:
            if any(frozenset(named) == factors for named in playbook.match.factors):
                return playbook
        if by_phrase:
            return by_phrase
        for playbook in playbooks:
            if playbook.id == SWEEP:
                return playbook
    hits = search(_subject(parsed.words), playbooks)
    if hits and _shares(parsed, hits[0]):
        return hits[0]
    raise Refusal("topic", "no factor of the catalogue fits it", _nearest(parsed, playbooks))


def search(subject: Iterable[str], playbooks: Sequence[Playbook]) -> list[Playbook]:
    """Playbooks that share words with `subject`, best first (SQLite full-text search, BM25)."""
    query = " OR ".join(f'"{word}"' for word in dict.fromkeys(subject))
    if not query:
        return []
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE VIRTUAL TABLE playbook USING fts5(text, tokenize='porter unicode61')")
        db.executemany(
            "INSERT INTO playbook (rowid, text) VALUES (?, ?)",
            [(i, " ".join(text_of(p))) for i, p in enumerate(playbooks)],
        )
        rows = db.execute(
            "SELECT rowid FROM playbook WHERE playbook MATCH ? ORDER BY bm25(playbook), rowid",
            (query,),
        )
        return [playbooks[row] for (row,) in rows]


def phrase_span(playbook: Playbook, text: Sequence[str]) -> tuple[int, int] | None:
    """Where the longest of a playbook's phrases stands in a topic (from, up to), or None."""
    spans = []
    for phrase in playbook.match.phrases:
        needle = words(phrase)
        start = find(needle, text)
        if start is not None:
            spans.append((start, start + len(needle)))
    return max(spans, key=lambda span: span[1] - span[0]) if spans else None


def _by_phrase(text: Sequence[str], playbooks: Sequence[Playbook]) -> Playbook | None:
    """The playbook with the longest phrase in the topic; the first of equals."""
    spans = [(playbook, phrase_span(playbook, text)) for playbook in playbooks]
    found = [(span[1] - span[0], playbook) for playbook, span in spans if span]
    return max(found, key=lambda pair: pair[0])[1] if found else None


def _shares(parsed: ParsedTopic, playbook: Playbook) -> bool:
    subject = set(_subject(parsed.words))
    shared = subject & set(text_of(playbook))
    return len(shared) >= _LEAST and len(shared) >= _SHARE * len(subject)


def _refuse_everyday(parsed: ParsedTopic, playbooks: Sequence[Playbook]) -> None:
    """Refuse `temperature in Rome`: one everyday word, nothing of the field, unknown words."""
    subject = _subject(parsed.words)
    known = [w for w in subject if w in vocabulary() or w in FIELD]
    everyday = all(word in _EVERYDAY for word in known)
    if parsed.factors and everyday and len(known) < len(subject) and not parsed.algorithm:
        said = parsed.treatments[0].words
        raise Refusal(
            "topic",
            f"only {said!r} in it is a word of the field",
            f"say what it is about, as in '{said} in RL training'",
        )


def _nearest(parsed: ParsedTopic, playbooks: Sequence[Playbook]) -> str:
    """The playbooks that share words with the topic, misspelt ones too; else all there are."""
    meant = [_spelled(word) for word in _subject(parsed.words)]
    hits = search(meant, playbooks)
    names = ", ".join(playbook.id for playbook in hits[:3] or playbooks)
    return f"{'nearest playbooks' if hits else 'the playbooks are'}: {names}"


def _spelled(word: str) -> str:
    """The word of the catalogue that a misspelt one stands for; else the word itself."""
    return next(iter(closest(word, vocabulary(), cutoff=_SPELLING)), word)


def _subject(text: Iterable[str]) -> list[str]:
    return list(filter(is_subject, text))


def _factors(playbook: Playbook) -> frozenset[str]:
    return frozenset(factor.name for factor in playbook.factors)


def text_of(playbook: Playbook) -> list[str]:
    """The words that a playbook is found by."""
    parts = [playbook.title, playbook.question, *playbook.match.topics, *playbook.match.phrases]
    parts += [FACTORS[f.name].title for f in playbook.factors if f.name in FACTORS]
    return words(" ".join(parts))
