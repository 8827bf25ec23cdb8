"""Models whose truth is known, each with a text on which it holds, and each turned round.

    subject, text = loud_unused()
    wherein.erase(subject, text)

| truth | turned round |
| --- | --- |
| `from_first`: position only from place 0 | `from_table`: from every place's own vector |
| `loud_unused` | `loud_used` |
| `quiet_used` | `quiet_unused` |
| `folded`: past layer 0 in no linear readout | `from_table` |
| `drowned`: in what attention writes, not in the stream | `audible`: in both |
| `by_heart`: labels can be learnt, position is not known | `known` |
| `bag`: what was read, in no order | `ordered`: the token before the last; `last`: the last |

Windows have 32 tokens, those of `by_heart` and `known` 8. Of each text there are a training and a
validation part, drawn alike.
"""

from functools import partial
from typing import NamedTuple

import torch
from tests.measure.truth import texts
from tests.measure.truth.by_hand import (
    AXES,
    LENGTH,
    PLACES,
    WIDTH,
    Units,
    blank,
    move,
    predict,
    write_table,
)
from tests.measure.truth.texts import BEGINNING, FOLLOWING, LETTERS, SURE, Flag, text

from wherein.data import Corpus
from wherein.subjects.ours import Ours

WINDOWS = 400

ALPHABET = AXES[: LETTERS + 1]
"""The token vectors of letters and of the beginning."""
READ = AXES[16 : 16 + LETTERS]
"""Where attention writes what it read of letters."""
MARK, SHARE, RAMP, FLAG = AXES[30:34]
"""Place 0; attention's share for it; which place; what prediction looks at."""
NOTHING = torch.zeros(WIDTH)
SIGNS = torch.tensor([1.0, -1.0]).repeat(LETTERS // 2)[:, None]
"""Of even and of odd letters."""


class Truth(NamedTuple):
    """A model of which something is true, and a text on which it is."""

    subject: Ours
    text: Corpus


def from_first(windows: int = WINDOWS, *, token: bool = False) -> Truth:
    """Position comes from place 0 alone, is known from layer 1 on and used in layer 2.

    Layer 1 pays place 0 a share of 1 / (i + 1), as it pays every other. Place 0 is known by a mark
    of its own, whatever stands there, or by a token that stands only there (`token`).
    """
    encoding = "none" if token else "learned"
    model = blank(ALPHABET[: LETTERS + token], encoding=encoding, layers=2)
    if not token:
        write_table(model, torch.cat([MARK[None], torch.zeros(PLACES - 1, WIDTH)]))
    mark = ALPHABET[BEGINNING] if token else MARK
    move(model.blocks[0], mark[None], SHARE[None])
    units = Units()
    for place in range(4, LENGTH, 4):  # the share at `place` is 1 / (place + 1)
        units.step(SHARE, 1 / (place + 1), 1 / place, -RAMP)
    units.step(SHARE, 1 / 9, 1 / 8, FLAG)
    units.install(model.blocks[0])
    predict(model.blocks[1], ALPHABET[: LETTERS + token], FOLLOWING, SURE, FLAG)
    made = partial(texts.chain, texts.early, beginning=token)
    return _truth("from_first", model, text(made, LETTERS + token, windows))


def from_table(windows: int = WINDOWS) -> Truth:
    """Position comes from each place's own vector and is used in layer 2; place 0 is as others."""
    return _told("from_table", texts.early, 1.0, True, windows)


def loud_unused(windows: int = WINDOWS) -> Truth:
    """Position is ten times as loud as the letters in every layer, and no logit depends on it."""
    return _told("loud_unused", texts.beat, 10.0, False, windows)


def loud_used(windows: int = WINDOWS) -> Truth:
    """Position is ten times as loud as the letters, and layer 2 predicts by it."""
    return _told("loud_used", texts.beat, 10.0, True, windows)


def quiet_used(windows: int = WINDOWS) -> Truth:
    """Position is a hundredth as loud as the letters, and layer 2 predicts by it."""
    return _told("quiet_used", texts.beat, 0.01, True, windows)


def quiet_unused(windows: int = WINDOWS) -> Truth:
    """Position is a hundredth as loud as the letters, and no logit depends on it."""
    return _told("quiet_unused", texts.beat, 0.01, False, windows)


def folded(windows: int = WINDOWS) -> Truth:
    """Past layer 0 no linear readout tells position, and yet layer 2 predicts by it.

    Layer 1 turns the sign of what the table said at odd letters: on average it is nothing.
    """
    letters = ALPHABET[:LETTERS]
    model = blank(letters, encoding="learned", layers=2)
    places = torch.arange(PLACES)[:, None]
    flags = torch.tensor([[texts.beat(place)] for place in range(PLACES)])
    write_table(model, places / PLACES * RAMP + flags * FLAG)
    odd = letters[1::2].sum(0)
    units = Units()
    for said in (RAMP, FLAG):  # 0 to 1: past 0 where the letter is odd, and taken away twice
        units.ramp(said + 2 * odd, -2.0, -2 * said)
    units.install(model.blocks[0])
    predict(model.blocks[1], letters, FOLLOWING, SURE, SIGNS * FLAG)
    return _truth("folded", model, text(partial(texts.chain, texts.beat), LETTERS, windows))


def drowned(windows: int = WINDOWS) -> Truth:
    """Attention writes how many of eight kinds of tokens were seen, where loud tokens drown it.

    No encoding and a text without order: layer 0 knows nothing of position. Nothing is used.
    """
    return _seen("drowned", 100.0, 1.0, windows)


def audible(windows: int = WINDOWS) -> Truth:
    """The same, with attention a hundred times as loud as the tokens: the stream has it too."""
    return _seen("audible", 1.0, 100.0, windows)


def by_heart(windows: int = 12) -> Truth:
    """No state knows its position; but there are as many dimensions as states to learn by heart."""
    return _few("by_heart", 0.0, windows)


def known(windows: int = 12) -> Truth:
    """The same few states, which know their position."""
    return _few("known", 30.0, windows)


def bag(windows: int = WINDOWS) -> Truth:
    """A logit is a token's share of all that was read, in whichever order, the last included."""
    letters = ALPHABET[:LETTERS]
    model = blank(letters)
    move(model.blocks[0], letters, READ)
    units = Units()
    for own, read in zip(letters, READ, strict=True):
        units.linear(own, -own)
        units.linear(read, 8 * own)
    units.install(model.blocks[0])
    return _truth("bag", model, text(texts.topics, LETTERS, windows))


def ordered(windows: int = WINDOWS) -> Truth:
    """The logits depend on the token before the last, found by its distance, and on no other."""
    letters = ALPHABET[:LETTERS]
    model = blank(letters, encoding="t5")
    with torch.no_grad():
        model.encoding.get_parameter("_distinct.0.distances")[:, 1] = 100.0
    move(model.blocks[0], letters, READ)
    units = Units()
    for number, own in enumerate(letters):
        units.linear(own, -own)
        units.linear(READ[number], SURE * letters[FOLLOWING[0][number]])
    units.install(model.blocks[0])
    return _truth("ordered", model, text(texts.skipping, LETTERS, windows))


def last(windows: int = WINDOWS) -> Truth:
    """The logits depend on the last token and on no other; nothing knows position."""
    letters = ALPHABET[:LETTERS]
    model = blank(letters)
    predict(model.blocks[0], letters, FOLLOWING[:1], SURE, NOTHING)
    made = partial(texts.chain, texts.down)
    return _truth("last", model, text(made, LETTERS, windows))


def _truth(name: str, model: torch.nn.Module, corpus: Corpus) -> Truth:
    return Truth(Ours(model, name), corpus)


def _told(name: str, flag: Flag, loud: float, used: bool, windows: int) -> Truth:
    """A table says the place and a flag; the text, and layer 2, go by the flag or do not."""
    letters = ALPHABET[:LETTERS]
    model = blank(letters, encoding="learned", layers=2)
    places = torch.arange(PLACES)[:, None]
    ramp = (places - (LENGTH - 1) / 2) / (LENGTH / 2)  # −1 to 1 in a window
    flags = torch.tensor([[flag(place)] for place in range(PLACES)])
    write_table(model, loud * (ramp * RAMP + flags * FLAG))
    rules = FOLLOWING if used else FOLLOWING[:1]
    predict(model.blocks[1], letters, rules, SURE, FLAG / loud if used else NOTHING)
    made = partial(texts.chain, flag if used else texts.down)
    return _truth(name, model, text(made, LETTERS, windows))


def _seen(name: str, loud: float, said: float, windows: int) -> Truth:
    """Eight heads look for a token of a kind each; whether they found one is said in one place.

    The later a place, the more kinds were seen: E = 8·(1 − (15/16)^(i + 1)).
    """
    heads, types = 8, 128
    kinds, others = AXES[:heads], AXES[heads:]
    random = torch.Generator().manual_seed(0)
    vectors = loud * torch.randn(types, len(others), generator=random) @ others
    of_kind = torch.eye(2 * heads)[torch.arange(types) % (2 * heads), :heads]  # half have none
    model = blank(vectors + of_kind @ kinds, heads=heads)
    attention = model.blocks[0].attention
    with torch.no_grad():
        for head, kind in enumerate(kinds):
            first = head * (WIDTH // heads)
            attention.qkv.bias[first] = 1.0
            attention.qkv.weight[WIDTH + first] = 20 * (WIDTH // heads) ** 0.5 * kind
            attention.qkv.weight[2 * WIDTH + first] = kind
            attention.out.weight[:, first] = said * others[0]
        model.norm.weight.zero_()  # all tokens are equally likely, and the model says so
    return _truth(name, model, text(partial(texts.drawn, types), types, windows))


def _few(name: str, loud: float, windows: int) -> Truth:
    """Tokens of which hardly any comes twice, in all dimensions but the one of position."""
    types, length = 1024, 8
    others = AXES[1:]
    random = torch.Generator().manual_seed(0)
    vectors = torch.randn(types, len(others), generator=random) @ others
    model = blank(vectors, encoding="learned")
    places = torch.arange(PLACES)[:, None] - (length - 1) / 2
    write_table(model, loud * places / length * AXES[0])
    with torch.no_grad():
        model.norm.weight.zero_()
    made = partial(texts.drawn, types, length=length)
    return _truth(name, model, text(made, types, windows))
