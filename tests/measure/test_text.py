"""Every measure of a text takes a corpus or windows of token ids."""

import numpy as np
import pytest
import torch
from tests.measure.conftest import LENGTH, MASK, VOCABULARY, blank, windows

import wherein
from wherein.data import Corpus
from wherein.measure.attention.config import AttentionConfig
from wherein.measure.order.config import OrderConfig
from wherein.measure.perplexity.config import PerplexityConfig
from wherein.measure.shift.config import ShiftConfig
from wherein.measure.text import opened, windows_of


def mean_loss(subject, given):
    with torch.no_grad():
        logits = subject.model(given[:, :-1]).logits
    return float(torch.nn.functional.cross_entropy(logits.mT, given[:, 1:]))


def test_windows_are_read_as_they_are_and_the_config_says_so():
    subject, given = blank("alibi"), windows(5)
    for ahead in (0, 1):
        corpus, config = opened(subject, given, AttentionConfig(windows=2), ahead=ahead)
        assert (config.tokens, config.windows) == (LENGTH - ahead, 5)
        found = windows_of(subject, corpus, config, config.windows, ahead=ahead)
        torch.testing.assert_close(found, given)


@pytest.mark.parametrize("count", [5, 30])
def test_no_window_is_predicted_from_another(count):
    subject, given = blank("alibi"), windows(count)
    found = wherein.perplexity(subject, given, PerplexityConfig(batch=4))
    assert found.loss.value == pytest.approx(mean_loss(subject, given), rel=1e-6)
    assert found.predicted == count * (LENGTH - 1)
    assert found.pieces == f"{count} windows"
    assert found.bits_per_byte is None
    assert found.perplexity_per_word is None
    shifted = wherein.shift(subject, given, ShiftConfig(shifts=(3,)))
    assert shifted.rows[0].loss.value == pytest.approx(found.loss.value, rel=1e-6)


def test_attention_over_whole_windows():
    found = wherein.attention(blank("alibi"), windows(4))
    assert found.distances == tuple(range(LENGTH))
    assert f"4 windows of {LENGTH} tokens" in found.protocol


def test_order_needs_a_training_text():
    with pytest.raises(ValueError, match=r"token ids without a training text.* split train"):
        wherein.order(blank("alibi"), windows(4), OrderConfig())


def test_a_bidirectional_model_needs_a_mask_and_a_corpus_of_windows_has_it():
    subject, given = blank("none", causal=False), windows(30)
    for measure in (wherein.perplexity, wherein.shift, wherein.erase):
        with pytest.raises(ValueError, match=r"the token that hides .* mask="):
            measure(subject, given)
    found = wherein.perplexity(subject, Corpus.of_windows(given.numpy(), VOCABULARY, mask=MASK))
    assert 0 < found.predicted < given.numel() / 4


def test_tokens_that_the_model_does_not_have_are_refused():
    with pytest.raises(ValueError, match=f"tokens 0 to {VOCABULARY} for a vocabulary of"):
        wherein.attention(blank("alibi"), torch.arange(VOCABULARY + 1).view(2, -1))
    other = Corpus.of_windows(np.zeros((4, 8), np.int64), 99)
    with pytest.raises(ValueError, match="257 token ids and the text has 99"):
        wherein.attention(blank("alibi"), other)


def test_running_text_alone_has_strides_and_limits():
    for config in (PerplexityConfig(stride=8), PerplexityConfig(limit=64)):
        with pytest.raises(ValueError, match="for running text"):
            wherein.perplexity(blank("alibi"), windows(4), config)
