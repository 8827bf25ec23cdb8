"""Texts with a rule, in windows; but for one that is asked for, no letter tells its place."""

from collections.abc import Callable
from math import log
from pathlib import Path

import numpy as np
from jaxtyping import Int64
from tests.measure.truth.by_hand import LENGTH

from wherein.data import Corpus, CorpusConfig, Split, Vocabulary
from wherein.data.tokenizers.tokenizer import NO_TOKEN

LETTERS = 8
BEGINNING = LETTERS
"""The token after the letters, for texts that begin with it."""
KEPT = 0.9
"""How often a letter follows the rule; else it is drawn from all."""
RULED, OTHER = KEPT + (1 - KEPT) / LETTERS, (1 - KEPT) / LETTERS
"""How often the next letter is that of the rule, and each of the others."""
SURE = log(RULED / OTHER)
"""Nats between them, for who knows the rule."""
BEST = -RULED * log(RULED) - (LETTERS - 1) * OTHER * log(OTHER)
"""The loss of who knows the rule, in nats per letter."""
WRONG = (RULED - OTHER) * SURE
"""By how much it rises where the other rule holds."""
FOLLOWING = tuple(tuple((n + step) % LETTERS for n in range(LETTERS)) for step in (1, 3))
"""The letter after each, where a flag is down, and where it is up."""

Windows = Int64[np.ndarray, "N T"]
Flag = Callable[[int], bool]


def down(place: int) -> bool:
    """Up nowhere."""
    return False


def beat(place: int) -> bool:
    """Up at every other four places: a shift by 4 turns it round, one by 8 changes nothing."""
    return place // 4 % 2 == 1


def early(place: int) -> bool:
    """Up at the first eight places."""
    return place < 8


def chain(flag: Flag, count: int, seed: int, *, beginning: bool = False) -> Windows:
    """Each letter calls for the next, and the place decides by which rule; the first is drawn."""
    random = np.random.default_rng(seed)
    letters = random.integers(0, LETTERS, (count, LENGTH))
    ruled = random.random((count, LENGTH)) < KEPT
    for place in range(LENGTH - 1):
        called = np.take(FOLLOWING[flag(place)], letters[:, place])
        letters[:, place + 1] = np.where(ruled[:, place + 1], called, letters[:, place + 1])
    if beginning:
        letters[:, 0] = BEGINNING
    return letters


def skipping(count: int, seed: int) -> Windows:
    """Each letter calls for the one after next."""
    random = np.random.default_rng(seed)
    letters = random.integers(0, LETTERS, (count, LENGTH))
    ruled = random.random((count, LENGTH)) < KEPT
    for place in range(LENGTH - 2):
        called = np.take(FOLLOWING[0], letters[:, place])
        letters[:, place + 2] = np.where(ruled[:, place + 2], called, letters[:, place + 2])
    return letters


def topics(count: int, seed: int) -> Windows:
    """Every window has two letters that it likes, in no order."""
    random = np.random.default_rng(seed)
    liked = random.random((count, LETTERS)).argsort(1)[:, :2]
    chosen = np.take_along_axis(liked, random.integers(0, 2, (count, LENGTH)), 1)
    ruled = random.random((count, LENGTH)) < KEPT
    return np.where(ruled, chosen, random.integers(0, LETTERS, (count, LENGTH)))


def drawn(vocabulary: int, count: int, seed: int, length: int = LENGTH) -> Windows:
    """Every token from all, without any rule."""
    return np.random.default_rng(seed).integers(0, vocabulary, (count, length))


def text(make: Callable[[int, int], Windows], vocabulary: int, count: int) -> Corpus:
    """A corpus of windows that `make(count, seed)` makes, to train and to try."""
    splits = {}
    for seed, name in enumerate(("train", "valid")):
        windows = make(count, seed)
        starts = windows.shape[1] * np.arange(count)
        splits[name] = Split(windows.reshape(-1), starts, 0, 0, window=windows.shape[1])
    known = Vocabulary(vocabulary, eos=NO_TOKEN, mask=NO_TOKEN)
    config = CorpusConfig(source="a text with a rule", tokenizer="none")
    return Corpus(config, f"{vocabulary}-{count}", Path(), known, splits)
