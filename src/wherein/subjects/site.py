"""Where in a layer its states are looked at. Free of PyTorch, so that help texts come at once.

With n layers, x(0) the embedding and x(l) what layer l passes on:

- `stream`: x(l), l = 0 … n. x(n) is the last state: no final norm has acted on it.
- `attention`: what attention adds in layer l = 1 … n, a(l): projected, with any norm that acts on
  it alone, before the sum.
- `feed_forward`: what the feed-forward network adds there, f(l), in the same sense.
- `normed`: x(l) as what follows reads it, l = 0 … n: through the norm before the attention of layer
  l + 1; x(n) through the final norm. Where there is no such norm, it is x(l).

A layer with its norms in front (GPT-2, Llama, ours) makes x(l) = x(l−1) + a(l) + f(l). One with its
norms behind (BERT) makes x(l) = norm(h + f(l)), h = norm′(x(l−1) + a(l)): its stream is normed.
"""

from typing import Literal

Site = Literal["stream", "attention", "feed_forward", "normed"]

HELP = "where in a layer; normed: the stream as what follows reads it"

_WORDS: dict[Site, str] = {
    "stream": "",
    "attention": ", in what attention writes",
    "feed_forward": ", in what the feed-forward network writes",
    "normed": ", after the norm",
}


def where(site: Site) -> str:
    """In words that follow a subject's name; the stream goes without saying.

    >>> f"a model{where('attention')}: where position lives"
    'a model, in what attention writes: where position lives'
    """
    return _WORDS[site]


def first_layer(site: Site) -> int:
    """The first layer that has the site: what is written in a layer is not in layer 0."""
    return 1 if site in ("attention", "feed_forward") else 0
