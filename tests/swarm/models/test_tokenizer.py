"""One token a character."""

from hypothesis import given
from hypothesis import strategies as st

from swarm.models import tiny
from swarm.models.tokenizer import CHARACTERS, EOS, PAD, build_tokenizer

TOKENIZER = build_tokenizer()


@given(st.text(CHARACTERS, max_size=20))
def test_text_comes_back_character_by_character(text: str) -> None:
    ids = TOKENIZER.encode(text, add_special_tokens=False)
    assert len(ids) == len(text)
    assert TOKENIZER.decode(ids) == text


def test_other_characters_are_unknown() -> None:
    ids = TOKENIZER.encode("aÜ\nb", add_special_tokens=False)
    assert ids.count(TOKENIZER.unk_token_id) == 2
    assert len(ids) == 4


def test_special_tokens_come_first_and_apart() -> None:
    assert TOKENIZER.convert_tokens_to_ids([PAD, EOS, "<unk>"]) == [0, 1, 2]
    assert (TOKENIZER.pad_token, TOKENIZER.eos_token) == (PAD, EOS)
    assert len(TOKENIZER) == 3 + len(CHARACTERS)


def test_it_is_the_one_that_tiny_was_frozen_with(tmp_path) -> None:
    TOKENIZER.save_pretrained(tmp_path)
    name = "tokenizer.json"
    assert (tmp_path / name).read_bytes() == (tiny.folder() / name).read_bytes()
