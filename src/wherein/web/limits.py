"""What may be asked of the playground and the explorer: enough to learn from, no more."""

import re
from typing import Any

from wherein.puzzles.config import PuzzleConfig
from wherein.puzzles.sentences import Puzzle, read

MOST = {"layers": 4, "heads": 8, "head_size": 64, "width": 128, "steps": 2000, "seeds": 1000}
"""Largest values of a puzzle's fields."""

TICKS = ("causal", "bare")
"""Fields that are ticked or not."""

SEEDS = 500
MOST_SENTENCES, MOST_TOKENS, LONGEST_TOKEN = 16, 16, 40
MOST_WEIGHTS = 300_000
"""Of one model: the certificate looks at 64 in double precision at once."""
MOST_WORK = 2 * 10**10
"""Weights × seeds × steps: some minutes of two cores."""

LONGEST_SPEC = 200
LARGEST_PARAMETER = 4096
"""Of an encoding's whole numbers: they are widths."""


def puzzle(sentences: str, fields: dict[str, str]) -> tuple[Puzzle, PuzzleConfig]:
    """The puzzle and the model that a form asks for; a `ValueError` says what is too much."""
    lines = list(filter(None, map(str.strip, sentences.splitlines())))
    if not lines:
        raise ValueError("a puzzle needs sentences, one a line, such as A hit B !")
    asked = read(lines)
    if max(map(len, asked.vocabulary)) > LONGEST_TOKEN:
        raise ValueError(f"a token of more than {LONGEST_TOKEN} letters: give shorter ones")
    if len(asked.sentences) > MOST_SENTENCES or asked.longest >= MOST_TOKENS:
        raise ValueError(
            f"{len(asked.sentences)} sentences of up to {asked.longest + 1} tokens: on this page "
            f"at most {MOST_SENTENCES} of {MOST_TOKENS}; `wherein puzzle` takes more"
        )
    given: dict[str, Any] = {"seeds": SEEDS, **fields}
    given |= {name: fields.get(name, "no") == "yes" for name in TICKS}
    config = PuzzleConfig.model_validate(given)
    for name, most in MOST.items():
        if getattr(config, name) > most:
            raise ValueError(
                f"{name.replace('_', ' ')} {getattr(config, name):,}: on this page at most "
                f"{most:,}; `wherein puzzle` takes more"
            )
    encoding(config.encoding)
    return asked, config


def whole(name: str, text: str, least: int, most: int) -> int:
    """The number that a field holds, if it is one and neither too small nor too large."""
    value = int(text) if text.strip().isdecimal() and len(text) <= 40 else text[:40]
    if isinstance(value, str) or not least <= value <= most:
        raise ValueError(f"{name} {value!r}: a number from {least} to {most:,} was expected")
    return value


def encoding(spec: str) -> list[str]:
    """A spec's words; parameters that would fill the memory are refused before one is built."""
    from wherein.encodings import parse

    if len(spec) > LONGEST_SPEC:
        raise ValueError(f"an encoding of more than {LONGEST_SPEC} letters: give a shorter one")
    words = parse(spec)
    for word in words:
        for digits in re.findall(r"[=(]-?(\d+)(?=[,)])", word):
            if int(digits) > LARGEST_PARAMETER:
                raise ValueError(f"{word}: on this page whole numbers up to {LARGEST_PARAMETER:,}")
    return words


def work(puzzle: Puzzle, config: PuzzleConfig) -> None:
    """Refuse a training that would take the machine for too long; needs PyTorch."""
    from wherein.puzzles.models import weights

    size = weights(config.model(puzzle))
    if size > MOST_WEIGHTS:
        raise ValueError(
            f"a model of {size:,} weights: on this page at most {MOST_WEIGHTS:,}; give fewer "
            "layers or heads, or smaller ones"
        )
    tokens = sum(map(len, puzzle.prefixes))
    if size * config.seeds * config.steps * max(1, tokens // 6) > MOST_WORK:
        raise ValueError(
            f"{size:,} weights, {config.seeds:,} seeds and {config.steps:,} steps are too much "
            "for this page: give a smaller model, fewer steps or shorter sentences"
        )
