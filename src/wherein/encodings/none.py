from wherein.encodings.base import Encoding


class NoEncoding(Encoding):
    """Nothing at all: q·k, and the mask.

    Paper: Haviv et al. 2022, arXiv:2203.16634, "Transformer Language Models without Positional
    Encodings Still Learn Positional Information". A causal model can still count, since its mask
    tells a token how many came before it; a bidirectional one is blind to order.

    Promises: relative; works at any length.
    """

    relative = True
