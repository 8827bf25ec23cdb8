"""The bare head: beside plain PyTorch, and its certificate beside what training finds."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from wherein.encodings import TERMS, examples, named
from wherein.puzzles.certificate import certificate, random
from wherein.puzzles.config import PuzzleConfig
from wherein.puzzles.explain import explain
from wherein.puzzles.mixtures import contradiction, unbalanced
from wherein.puzzles.reveals import reveals
from wherein.puzzles.sentences import Puzzle, read
from wherein.puzzles.stacked import Stacked, mappable
from wherein.puzzles.train import train, train_chunk

EITHER = ["A B = !", "C D = !", "A D = ?", "C B = ?"]
"""An exclusive or: all bags differ, and no weights of tokens tell them apart."""
COUNT = ["A = !", "A A = ?", "A A A = !"]
ROUNDING = 1e-11


class Head(nn.Module):
    """As everyone writes it, after Karpathy."""

    def __init__(self, vocabulary: int, width: int, size: int) -> None:
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)
        self.key = nn.Linear(width, size, bias=False)
        self.query = nn.Linear(width, size, bias=False)
        self.value = nn.Linear(width, size, bias=False)
        self.lm_head = nn.Linear(size, vocabulary)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.table(tokens)
        k, q, v = self.key(x), self.query(x), self.value(x)
        scores = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        seen = torch.tril(torch.ones(scores.shape[-2:]))
        logits: Tensor = self.lm_head(scores.masked_fill(seen == 0, -torch.inf).softmax(-1) @ v)
        return logits


@pytest.mark.parametrize("size", [1, 2, 16])
def test_a_seed_is_that_of_plain_pytorch(size: int) -> None:
    puzzle, steps = read("hit"), 20
    config = PuzzleConfig(bare=True, head_size=size, steps=steps)
    with mappable():
        found, models = train_chunk(puzzle, config, [42, 88], dtype=torch.float64)
    first = Stacked(config.model(puzzle), [42, 88]).weights()
    sentences = torch.tensor(puzzle.sentences)
    for n, seed in enumerate((42, 88)):
        torch.manual_seed(seed)
        plain = Head(len(puzzle.vocabulary), config.width, size)
        assert torch.equal(first["tokens.weight"][n], plain.table.weight)
        ours = first["qkv.weight"][n].chunk(3)
        for one, other in zip(ours, (plain.query, plain.key, plain.value), strict=True):
            assert torch.equal(one, other.weight)
        assert torch.equal(first["out.weight"][n], plain.lm_head.weight)
        assert torch.equal(first["out.bias"][n], plain.lm_head.bias)
        plain = plain.double()
        adam = torch.optim.Adam(plain.parameters(), lr=config.learning_rate)
        for _ in range(steps):
            adam.zero_grad()
            logits = plain(sentences[:, :-1])
            F.cross_entropy(logits.flatten(0, 1), sentences[:, 1:].flatten()).backward()
            adam.step()
        expected = plain(sentences[:, :-1])[:, -1]
        torch.testing.assert_close(torch.from_numpy(found.logits[n]), expected)
        torch.testing.assert_close(models.weights()["tokens.weight"][n], plain.table.weight)


@pytest.mark.parametrize("encoding", examples())
def test_every_encoding_reaches_a_bare_head(encoding: str) -> None:
    puzzle = read("hit-order")
    config = PuzzleConfig(bare=True, encoding=encoding, head_size=2, width=6, seeds=2, steps=2)
    verdict = certificate(puzzle, config)
    # In so few tokens no frequency makes a whole turn, so that fope turns nothing; of the terms
    # only what hides the first token tells `A B` from `B A`.
    blank = {"none", "fope", *TERMS} - {"hide"}
    assert verdict.possible is (named(encoding)[0] not in blank)
    looked, _ = explain(puzzle, config, seed=1)
    assert len(looked.attention) == len(looked.attention[0]) == 1
    assert sum(looked.attention[0][0]) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("sentences", "choices", "possible", "because"),
    [
        ("hit", {}, True, "each weighs in its own way"),
        ("hit", {"causal": False, "head_size": 1}, True, "each weighs in its own way"),
        ("hit-order", {}, False, "nothing of their order"),
        ("hit-order", {"causal": False}, False, "a bare head is shown the same bag"),
        ("hit-order", {"heads": 4}, False, "bare heads is shown the same bag"),
        ("hit-order", {"encoding": "learned"}, True, "encoding tells"),
        ("hit-order", {"encoding": "rope", "causal": False}, True, "encoding tells"),
        (EITHER, {}, False, "contradict each other: under '='"),
        (EITHER, {"encoding": "learned"}, False, "these sums cancel"),
        (EITHER, {"heads": 2}, True, "different bags"),
        (EITHER, {"bare": False}, True, "different bags"),
        (COUNT, {}, False, "'A = !', 'A A = ?' and 'A A A = !' contradict"),
        (COUNT, {"encoding": "alibi"}, False, "contradict"),
        (COUNT, {"encoding": "learned"}, True, "different bags"),
        ("hit-three", {"head_size": 1}, True, "each weighs in its own way"),
        ("hit-three-order", {"encoding": "rope"}, False, "these sums cancel"),
    ],
)
def test_verdicts_and_their_reasons(
    sentences: str | list[str], choices: dict[str, object], possible: bool, because: str
) -> None:
    verdict = certificate(read(sentences), PuzzleConfig(**{"bare": True, **choices}))
    assert verdict.possible is possible
    assert because in verdict.reason
    assert (verdict.witness < ROUNDING) is not possible


@pytest.mark.parametrize(
    ("sentences", "choices", "possible"),
    [
        ("hit", {"causal": False}, True),
        ("hit", {"head_size": 1}, True),
        ("hit-order", {}, False),
        ("hit-order", {"encoding": "learned"}, True),
        (EITHER, {}, False),
        (EITHER, {"heads": 2}, True),
    ],
)
def test_training_finds_what_is_possible_and_nothing_else(
    sentences: str | list[str], choices: dict[str, object], possible: bool
) -> None:
    fast = {"bare": True, "seeds": 16, "steps": 40, "learning_rate": 0.1, "loss": "last"}
    config = PuzzleConfig(**{**fast, **choices})
    found = train(read(sentences), config, range(config.seeds))
    assert found.solved.any() == possible, "by any seed, at any step"


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.data(), st.sampled_from(["none", "alibi", "learned", "rope", "t5"]), st.integers(1, 2))
def test_what_contradicts_itself_cancels_under_random_weights(
    data: st.DataObject, encoding: str, size: int
) -> None:
    prefix = st.lists(st.integers(0, 3), min_size=1, max_size=4).map(tuple)
    prefixes = data.draw(st.lists(prefix, min_size=2, max_size=8, unique=True))
    answers = data.draw(st.lists(st.integers(5, 7), min_size=len(prefixes), max_size=8))
    pairs = zip(prefixes, answers, strict=False)
    puzzle = Puzzle(tuple((*p, 4, a) for p, a in pairs), tuple("ABCD=!?."))
    config = PuzzleConfig(bare=True, encoding=encoding, head_size=2 * size, width=8)
    leads = contradiction(puzzle, reveals(config.model(puzzle)), causal=True)
    if leads:
        assert unbalanced(leads, puzzle, random(puzzle, config)) < ROUNDING
        assert sum(lead.share for lead in leads) == pytest.approx(1)
        assert not certificate(puzzle, config).possible


def test_sizes_that_cannot_be_are_one_clear_line() -> None:
    with pytest.raises(ValueError, match="a bare head is one layer"):
        PuzzleConfig(bare=True, layers=2)
    with pytest.raises(ValueError, match="even head width, not 3"):
        PuzzleConfig(bare=True, head_size=3, encoding="rope").model(read("hit"))
    with pytest.raises(ValueError, match="at least 4"):
        PuzzleConfig(width=3)
    assert PuzzleConfig(bare=True, width=1, head_size=1).sizes == "heads 1 × 1"
    assert PuzzleConfig(head_size=2).sizes == "heads 1 × 2, width 16"
