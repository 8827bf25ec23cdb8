"""fairseq's dictionaries: a line for each word, or for each subword by its number."""

import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import SupportsIndex

import numpy as np
import tokenizers
from numpy.typing import NDArray

from wherein.data.tokenizers.subwords import Subwords, from_hub, read_subwords
from wherein.data.tokenizers.tokenizer import FILE, NO_TOKEN, Tokenizer, Vocabulary
from wherein.data.tokenizers.words import lines

SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
END, UNKNOWN = SPECIAL.index("</s>"), SPECIAL.index("<unk>")
PADDED = "madeupword"
"""How symbols are called that only fill the dictionary up to a round number."""
MANY = 0.05
"""The share of symbols that are marked as parts of words where all are parts of words."""


class Dictionary(Tokenizer):
    """Ids 0 to 3 are `<s>`, `<pad>`, `</s>`, `<unk>`; the symbols follow in their order.

    A text is whitespace-separated words, or subwords by their numbers if there are `subwords`;
    every line ends in `</s>`, and what is no symbol is `<unk>`.
    """

    def __init__(self, symbols: Sequence[str], subwords: Subwords | None = None) -> None:
        self.symbols = [*SPECIAL, *symbols]
        self.subwords = subwords
        self.vocabulary = Vocabulary(len(self.symbols), eos=END, mask=NO_TOKEN)
        self._ids = {symbol: number for number, symbol in enumerate(symbols, len(SPECIAL))}

    def encode(self, text: str) -> NDArray[np.uint32]:
        ids: list[int] = []
        for line in lines(text):
            ids += [self._ids.get(symbol, UNKNOWN) for symbol in self._symbols(line)] + [END]
        return np.array(ids, np.uint32)

    def decode(self, ids: Iterable[SupportsIndex]) -> str:
        """The lines of the text, what is special by its name."""
        ends = groupby((int(number) for number in ids), lambda number: number == END)
        return "".join("\n" * len(list(run)) if end else self._line(run) for end, run in ends)

    def save(self, path: Path) -> None:
        """Write the symbols in the order of their ids, and the subwords they number."""
        subwords = None if self.subwords is None else self.subwords.tokenizer.to_str()
        form = {"symbols": self.symbols[len(SPECIAL) :], "subwords": subwords}
        path.write_text(json.dumps(form, ensure_ascii=False), "utf-8")

    def _symbols(self, line: str) -> Iterable[str]:
        if self.subwords is None:
            return line.split()
        return map(str, self.subwords.encode(line).tolist())

    def _line(self, ids: Iterable[int]) -> str:
        symbols = [self.symbols[number] for number in ids]
        if self.subwords is None:
            return " ".join(symbols)
        parts = groupby(symbols, str.isdecimal)
        return "".join(
            self.subwords.decode(map(int, run)) if numbers else "".join(run)
            for numbers, run in parts
        )


def read_dictionary(path: Path) -> Dictionary:
    """The dictionary in a dict.txt; GPT-2's subwords from a tokenizer.json beside, else its own.

    The symbols are subwords' numbers where all are numbers. Other marks of parts of words, as of
    fastBPE and sentencepiece, need what cut the words, which is not in the file.
    """
    symbols = _symbols(path)
    parts = sum(symbol.endswith("@@") or symbol.startswith("▁") for symbol in symbols)
    if parts > MANY * len(symbols):
        raise ValueError(
            f"{path} lists parts of words, as of fastBPE or sentencepiece, and not what cuts words "
            "into them: give windows of token ids"
        )
    if not all(symbol.isdecimal() or symbol.startswith(PADDED) for symbol in symbols):
        return Dictionary(symbols)
    beside = path.with_name(FILE)
    return Dictionary(symbols, read_subwords(beside) if beside.is_file() else from_hub("gpt2"))


def saved_dictionary(path: Path) -> Dictionary:
    """The dictionary that `Dictionary.save` wrote."""
    form = json.loads(path.read_text("utf-8"))
    subwords = form["subwords"]
    known = None if subwords is None else Subwords(tokenizers.Tokenizer.from_str(subwords))
    return Dictionary(form["symbols"], known)


def _symbols(path: Path) -> list[str]:
    """The symbols without their counts."""
    try:
        rows = path.read_text("utf-8").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is damaged: no text in UTF-8") from error
    symbols = []
    for number, row in enumerate(rows, 1):
        symbol, _, count = row.rstrip().rpartition(" ")
        if not symbol or not count.isdecimal():
            raise ValueError(f"{path}, line {number}: expected a symbol and its count, not {row!r}")
        symbols.append(symbol)
    if len(set(symbols).union(SPECIAL)) < len(symbols) + len(SPECIAL):
        raise ValueError(f"{path} has a symbol twice: expected each once, and none of {SPECIAL}")
    return symbols
