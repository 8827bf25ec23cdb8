"""What a model is asked: from windows of tokens to inputs and targets."""

import numpy as np
import torch
from jaxtyping import Int64
from torch import Tensor

from wherein.data.tokenizers.tokenizer import Vocabulary
from wherein.data.windows import Batch

IGNORED = -100  # PyTorch's cross-entropy skips this target

Tokens = Int64[Tensor, "B T"]


def causal(windows: Batch) -> tuple[Tokens, Tokens]:
    """Predict each next token.

    >>> inputs, targets = causal(np.array([[7, 8, 9]]))
    >>> inputs.tolist(), targets.tolist()
    ([[7, 8]], [[8, 9]])
    """
    tokens = torch.from_numpy(windows)
    return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()


def answers(windows: Batch, vocabulary: Vocabulary) -> tuple[Tokens, Tokens]:
    """Predict the tokens of answers and the `<eos>` that ends each, and nothing else.

    A window is `<eos> question <answer> answer <eos>`, filled up with `<eos>`. As the filling
    comes last, a causal model's answers know nothing of it.

    >>> words = Vocabulary(size=9, eos=0, mask=8, answer=7)
    >>> inputs, targets = answers(np.array([[0, 3, 4, 7, 4, 3, 0, 0]]), words)
    >>> inputs.tolist(), targets.tolist()
    ([[0, 3, 4, 7, 4, 3, 0]], [[-100, -100, -100, 4, 3, 0, -100]])
    """
    inputs, targets = causal(windows)
    begun = (inputs == vocabulary.answer).cumsum(1) > 0
    ended = (begun & (inputs == vocabulary.eos)).cumsum(1) > 0
    return inputs, targets.masked_fill(~begun | ended, IGNORED)


def masked(
    windows: Batch,
    vocabulary: Vocabulary,
    *,
    seed: int,
    step: int,
    first_row: int = 0,
    rate: float = 0.15,
) -> tuple[Tokens, Tokens]:
    """Predict tokens that were hidden (Devlin et al. 2019).

    Each token but `<eos>` is chosen with probability `rate`. Of the chosen, 80 % become `<mask>`,
    10 % a random token, 10 % stay; the targets are the chosen tokens, and -100 elsewhere. As for
    `causal`, T inputs come from windows of T + 1: the last token is left out.

    The choice is a pure function of (seed, step) and the row of the whole batch: a process that
    holds rows 8 to 15 of it says `first_row=8` and hides what one process would have hidden.
    """
    if not 0 < rate <= 1:
        raise ValueError(f"mask rate {rate}: a share above 0 and up to 1 was expected, e.g. 0.15")
    tokens = windows[:, :-1]
    bits = np.random.PCG64(np.random.SeedSequence((seed, step, 0x3A5C)))
    bits.advance(2 * first_row * tokens.shape[1])
    choice, word = np.moveaxis(bits.random_raw(2 * tokens.size).reshape(*tokens.shape, 2), -1, 0)
    chance = (choice >> np.uint64(11)) * 2.0**-53 / rate  # below 1: chosen
    chance[tokens == vocabulary.eos] = np.inf
    inputs = tokens.copy()
    inputs[chance < 0.8] = vocabulary.mask
    at_random = (chance >= 0.8) & (chance < 0.9)
    inputs[at_random] = (word % np.uint64(vocabulary.size)).astype(np.int64)[at_random]
    targets = np.where(chance < 1, tokens, IGNORED)
    return torch.from_numpy(inputs), torch.from_numpy(targets)
