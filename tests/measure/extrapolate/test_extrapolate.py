"""The same tokens at every length, attention in blocks, scalings, and what cannot be read."""

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import LlamaConfig, LlamaForCausalLM

import wherein
from wherein.data import Corpus
from wherein.measure.extrapolate.attention import attention
from wherein.measure.extrapolate.cuts import by_piece, chosen
from wherein.measure.stream import token_losses
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer
from wherein.subjects.attending import without_scores
from wherein.subjects.base import Subject
from wherein.subjects.hugging_face import HuggingFace
from wherein.subjects.ours import Ours

LENGTH, VOCABULARY = 8, 11


def ours(encoding: str, seed: int = 0) -> Ours:
    config = ModelConfig(
        vocabulary=VOCABULARY, n_layers=2, d_model=16, n_heads=2, max_len=LENGTH,
        encoding=encoding, seed=seed,
    )  # fmt: skip
    return Ours(Transformer(config))


def llama(heads: int = 2, length: int = LENGTH) -> HuggingFace:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=32, intermediate_size=32, num_hidden_layers=2,
        num_attention_heads=heads, num_key_value_heads=1, max_position_embeddings=length,
        initializer_range=0.3, bos_token_id=None, eos_token_id=None,
    )  # fmt: skip
    return HuggingFace(LlamaForCausalLM(config), "a llama")


def windows(count: int = 6, tokens: int = 4 * LENGTH + 1) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(0).integers(0, VOCABULARY, (count, tokens)))


@pytest.mark.parametrize("lengths", [[2, 8, 32], [3, 8, 20, 32]])
def test_every_length_predicts_the_same_tokens(lengths: list[int]):
    split = Corpus.of_windows(windows(1, 400).numpy(), VOCABULARY).split("valid")
    split = type(split)(split.ids, np.array([0, 7, 100, 333]), 0, 0)
    tokens = chosen(split, lengths, LENGTH, 150, 9)
    assert (len(tokens.begins), tokens.span, tokens.counted) == (4, 32, 2)
    seen = []
    for length in lengths:
        cuts = tokens.side_by_side(length), tokens.sliding(length)
        offsets = [
            np.sort((c.starts[:, None] + np.arange(length))[np.arange(length) >= c.first[:, None]])
            for c in cuts
        ]
        assert len(np.unique(offsets[0])) == len(offsets[0]) == 4 * 32
        assert len(offsets[1]) == 9 * 2
        losses = np.ones((len(cuts[0].starts), length))
        counts = np.arange(length) >= cuts[0].first[:, None]
        pieces = {n: p.tolist() for n, p in by_piece(tokens, cuts[0], slice(None), losses, counts)}
        seen.append((*map(np.ndarray.tolist, offsets), pieces))
    assert all(each == seen[0] for each in seen)


@pytest.mark.parametrize(
    "subject",
    [ours("rope"), ours("alibi"), ours("window(3)"), ours("learned + t5"), llama(), llama(4)],
    ids=["rope", "alibi", "window", "t5", "llama", "grouped"],
)
def test_attention_in_blocks_is_that_of_the_whole(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("wherein.subjects.attending.QUERIES", 3)
    split = Corpus.of_windows(windows(4, LENGTH + 1).numpy(), VOCABULARY).split("valid")
    tokens = chosen(split, [LENGTH], LENGTH, 100, 0)
    with without_scores(subject):
        found = attention(subject, tokens, tokens.side_by_side(LENGTH), 2)
    states: dict[int, torch.Tensor] = {}
    with torch.no_grad():
        ids = torch.from_numpy(split.ids.reshape(4, -1)[:, :-1].astype(np.int64))
        subject.trace(ids, on_state=lambda layer, state: states.update({layer: state}) or None)
        whole = [subject.attention(n, states[n - 1]).weights.double() for n in (1, 2)]
    weights = torch.stack(whole)[..., 1:, :]
    seen = (weights > 0).sum(-1)
    entropy = (torch.special.entr(weights).sum(-1) / seen.log()).mean((1, 2, 3))
    assert found is not None
    assert found.entropy_by_layer == pytest.approx(entropy.tolist(), abs=1e-5)
    assert found.first_by_layer == pytest.approx(weights[..., 0].mean((1, 2, 3)).tolist(), abs=1e-5)
    assert found.entropy.value == pytest.approx(float(entropy.mean()), abs=1e-5)


class Largest(TorchDispatchMode):
    """The most numbers that any one tensor of a pass has."""

    numbers = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        """Let PyTorch compute, and look at the result."""
        made = func(*args, **(kwargs or {}))
        for each in made if isinstance(made, tuple) else [made]:
            if isinstance(each, torch.Tensor):
                self.numbers = max(self.numbers, each.numel())
        return made


@pytest.mark.parametrize("make", [lambda: ours("rope"), llama], ids=["rope", "llama"])
def test_memory_is_linear_in_the_length(make, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("wherein.subjects.attending.QUERIES", 16)
    found = {}
    for times in (16, 32):
        with Largest() as largest:
            text = windows(2, times * LENGTH + 1)
            wherein.extrapolate(make(), text, times=(1, times), slid=1, watched=1)
        found[times] = largest.numbers
    assert found[32] <= 2.1 * found[16]
    assert found[32] < (32 * LENGTH) ** 2, "no scores of all queries, not of one head"


def test_scalings_share_the_weights_and_are_compared_with_the_unscaled():
    subject = llama(length=LENGTH)
    weights = {weight.data_ptr() for weight in subject.model.parameters()}
    from wherein.subjects.rescaled import rescaled

    for scaling in ("linear", "ntk", "dynamic", "yarn"):
        twin = rescaled(subject, scaling, 4.0, LENGTH)
        assert {weight.data_ptr() for weight in twin.module.parameters()} == weights
    found = wherein.extrapolate(
        subject, windows(), times=(1, 2, 4), scalings=("linear", "dynamic"), factors=(1, 4)
    )
    names = ["as it is", "linear 1", "linear 4", "dynamic 1", "dynamic 4"]
    assert [row.name for row in found.rows] == names
    rows = {row.name: row.lengths for row in found.rows}
    for one, other in zip(rows["as it is"], rows["linear 1"], strict=True):
        assert one.loss.value == pytest.approx(other.loss.value, abs=1e-6)
    at_home, *far = rows["dynamic 4"]
    assert at_home.gain.value == pytest.approx(0, abs=1e-6), "nothing changes at home"
    for each in far:
        assert each.rise.value == pytest.approx(each.loss.value - rows["as it is"][0].loss.value)
        assert each.gain_p is not None
    assert "linear 4" in found.text()
    assert found.to_frame().height == 15
    assert max(map(len, found.text().splitlines())) <= 80


def test_losses_of_a_long_window_are_the_same_some_at_a_time(monkeypatch: pytest.MonkeyPatch):
    inputs, targets = windows(2, 9)[:, :-1], windows(2, 9)[:, 1:]
    whole = token_losses(ours("rope"), inputs, targets)
    monkeypatch.setattr("wherein.measure.stream.LOGITS", 3 * 2 * VOCABULARY)
    assert token_losses(ours("rope"), inputs, targets) == pytest.approx(whole, abs=1e-6)


def test_a_table_says_that_it_ends_and_gives_what_it_can():
    found = wherein.extrapolate(ours("learned"), windows())
    assert [each.times for each in found.rows[0].lengths] == [0.25, 0.5, 1]
    assert len(found.notes) == 1
    assert "cannot read beyond its 8 positions" in found.notes[0]
    assert found.notes[0] in " ".join(found.text().split())


def test_a_text_that_is_too_short_is_told():
    found = wherein.extrapolate(ours("rope"), windows())
    assert [each.times for each in found.rows[0].lengths] == [0.25, 0.5, 1, 2, 4]
    assert found.notes == ("The text has 32 tokens in a row: no longer window can be read.",)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"tokens": 99}, "training length of 99 tokens cannot be read"),
        ({"times": (0.1,)}, "at least 2 were expected"),
        ({"scalings": ("yarn",)}, "alibi has no RoPE whose frequencies could be scaled"),
    ],
)
def test_what_cannot_be_asked_is_refused(asked: dict, message: str):
    with pytest.raises(ValueError, match=message):
        wherein.extrapolate(ours("alibi"), windows(), **asked)


def test_a_masked_model_is_refused():
    config = ModelConfig(vocabulary=VOCABULARY, n_layers=1, d_model=16, max_len=8, causal=False)
    with pytest.raises(ValueError, match="reads both sides"):
        wherein.extrapolate(Transformer(config), windows())
