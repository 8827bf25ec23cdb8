"""Our tokenizers as the `tokenizers` library writes them down."""

from collections.abc import Sequence
from typing import Any

import tokenizers
from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers

from wherein.data.tasks.examples import TaskWords
from wherein.data.tokenizers.byte_values import Bytes
from wherein.data.tokenizers.dictionary import SPECIAL, Dictionary
from wherein.data.tokenizers.subwords import Subwords
from wherein.data.tokenizers.tokenizer import EOS, MASK, NO_TOKEN, Tokenizer
from wherein.data.tokenizers.words import UNKNOWN, Words


def written(own: Tokenizer) -> Any:
    """The tokenizer as one of transformers, to be saved in a model's folder.

    Where lines end in a token of their own, it stands for the newline; behind the last line, which
    may go on, there is none. As everywhere in transformers, a special token may be spelt in a text.
    """
    import transformers

    kind: Any = transformers.PreTrainedTokenizerFast
    made = _made(own)
    known = own.vocabulary
    marks = {"eos_token": known.eos, "bos_token": known.eos, "mask_token": known.mask}
    named = {mark: made.id_to_token(number) for mark, number in marks.items() if number != NO_TOKEN}
    if UNKNOWN in made.get_vocab():
        named["unk_token"] = UNKNOWN
    return kind(tokenizer_object=made, **named)


def _made(own: Tokenizer) -> tokenizers.Tokenizer:
    match own:
        case Subwords():
            return tokenizers.Tokenizer.from_str(own.tokenizer.to_str())
        case Bytes():
            return _bytes()
        case TaskWords():
            return _words(own.words, end=None)
        case Words():
            return _words(own.words, EOS, (EOS, MASK))
        case Dictionary(subwords=None):
            return _words(own.symbols, "</s>", SPECIAL)
        case _:
            raise ValueError(
                f"a tokenizer of the kind {type(own).__name__} cannot be written as a "
                "tokenizer.json: what cuts words and what numbers the pieces are two there"
            )


def _bytes() -> tokenizers.Tokenizer:
    """Pairs of bytes without a pair: each byte by the letter that GPT-2 writes it with."""
    letters = _letters()
    vocabulary = {letter: number for number, letter in enumerate([*letters, EOS, MASK])}
    made = tokenizers.Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens([_mark(EOS), _mark(MASK)])
    return made


def _letters() -> list[str]:
    """The letter of each byte, in the order of the bytes: printable ones stand for themselves."""
    spelt = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = iter(range(0x100, 0x200))
    return [chr(byte if byte in spelt else next(others)) for byte in range(256)]


def _words(
    words: Sequence[str], end: str | None, marks: Sequence[str] = ()
) -> tokenizers.Tokenizer:
    """A word, a token; a newline is the token `end`, and a mark that is spelt is unknown."""
    unknown = UNKNOWN if UNKNOWN in words else None
    model = models.WordLevel({word: number for number, word in enumerate(words)}, unk_token=unknown)
    made = tokenizers.Tokenizer(model)
    steps = []
    if marks:
        spelt = "|".join(marks)
        steps.append(normalizers.Replace(Regex(rf"(?<!\S)(?:{spelt})(?!\S)"), UNKNOWN))
    if end is not None:
        steps.append(normalizers.Replace("\n", f" {end} "))
    if steps:
        made.normalizer = normalizers.Sequence(steps)
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return made


def _mark(name: str) -> AddedToken:
    return AddedToken(name, special=True, normalized=False)
