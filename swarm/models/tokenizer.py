"""The character tokenizer of the `tiny` model."""

from transformers import PreTrainedTokenizerFast

PAD, EOS = "<pad>", "<eos>"
CHARACTERS = "abcdefghijklmnopqrstuvwxyzRSCO0123456789+-*=:>#,. "


def build_tokenizer() -> PreTrainedTokenizerFast:
    """One token a character, `<pad>` and `<eos>` apart; anything else becomes `<unk>`."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

    vocabulary = {token: i for i, token in enumerate([PAD, EOS, "<unk>", *CHARACTERS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("[\\s\\S]"), "isolated")
    tokenizer.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token=PAD, eos_token=EOS, unk_token="<unk>"
    )
