"""The tokens that end an answer: one truth for sampling, supervised rows and what is scored."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swarm.errors import ModelUnavailable


@dataclass(frozen=True)
class Ends:
    """`stops` are all tokens that end a completion; `written` is the one of them that a supervised
    answer ends with; `padding` fills rows and is no part of an answer."""

    stops: frozenset[int]
    written: int
    padding: int | None = None

    def answers(self, tokenizer: Any, completions: Iterable[Sequence[int]]) -> list[str]:
        """The texts of completions: without their end and padding, with all other special tokens,
        which are part of what was said."""
        dropped = self.stops | {self.padding}
        said = [[token for token in tokens if token not in dropped] for tokens in completions]
        texts: list[str] = tokenizer.batch_decode(said, skip_special_tokens=False)
        return texts


def ends_of(ref: str, tokenizer: Any, generation: int | list[int] | None) -> Ends:
    """The ends of a model: those of its generation config and its tokenizer's own. A supervised
    answer ends as the chat template ends a turn, where that is one of them, else with the
    tokenizer's. Raises ModelUnavailable for a model that names none."""
    named = [generation] if isinstance(generation, int) else list(generation or ())
    own = tokenizer.eos_token_id
    stops = frozenset(named if own is None else [*named, own])
    if not stops:
        raise ModelUnavailable(
            f"{ref!r} names no end-of-sequence token",
            "set eos_token_id in its config.json, or eos_token in its tokenizer_config.json",
        )
    written = _turn_end(tokenizer, stops)
    if written is None:
        written = named[0] if own is None else own
    return Ends(stops, written, tokenizer.pad_token_id)


def _turn_end(tokenizer: Any, stops: frozenset[int]) -> int | None:
    """The first end that the chat template writes behind an assistant's answer."""
    if not tokenizer.chat_template:
        return None
    asked: list[Mapping[str, str]] = [{"role": "user", "content": "1"}]
    told = [*asked, {"role": "assistant", "content": "2"}]
    try:
        before, after = (
            tokenizer.apply_chat_template(
                messages, tokenize=True, return_dict=False, add_generation_prompt=generate
            )
            for messages, generate in ((asked, True), (told, False))
        )
    except Exception:  # a template may raise anything; rows are checked on their own
        return None
    same = next((i for i, (a, b) in enumerate(zip(before, after)) if a != b), len(before))  # noqa: B905
    return next((token for token in after[same:] if token in stops), None)
