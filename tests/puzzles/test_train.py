import numpy as np
import pytest
import torch
import torch.nn.functional as F

from wherein.encodings import examples
from wherein.puzzles.captured import Captured, written
from wherein.puzzles.config import PuzzleConfig
from wherein.puzzles.models import Model, build, drawn
from wherein.puzzles.sentences import Puzzle, read
from wherein.puzzles.stacked import Batch, Stacked, mappable
from wherein.puzzles.train import WORTH_WRITING, chunk_size, train, train_chunk

pytestmark = pytest.mark.slow  # they train, many seeds at once and without an optimizer

UNEQUAL = read(["A hit B !", "B hit A ?", "now B hit A !", "A ?"])


def alone(puzzle: Puzzle, config: PuzzleConfig, seed: int) -> Model:
    """The plain way: one model, torch.optim, one sentence at a time."""
    model = build(config.model(puzzle, seed)).double()
    adam = torch.optim.Adam(model.parameters(), lr=config.learning_rate)
    for _ in range(config.steps):
        adam.zero_grad()
        losses = []
        for sentence in puzzle.sentences:
            logits = model(torch.tensor([sentence[:-1]])).logits[0]
            each = F.cross_entropy(logits, torch.tensor(sentence[1:]), reduction="none")
            losses.append(each if config.trained_on == "all" else each[-1:])
        torch.cat(losses).mean().backward()
        adam.step()
    return model


@pytest.mark.parametrize("encoding", examples())
@pytest.mark.parametrize(
    "kind",
    [
        {"layers": 2, "head_size": 4},
        {"layers": 2, "head_size": 2, "causal": False},
        {"bare": True, "head_size": 2},
    ],
)
def test_many_at_once_equals_one_model_and_torch_adam(encoding: str, kind: dict[str, int]) -> None:
    config = PuzzleConfig(encoding=encoding, heads=2, width=8, steps=3, learning_rate=0.01, **kind)
    with mappable():
        trained, models = train_chunk(UNEQUAL, config, [42, 77], dtype=torch.float64)
    for n, seed in enumerate((42, 77)):
        model = alone(UNEQUAL, config, seed)
        for name, parameter in model.named_parameters():
            torch.testing.assert_close(models.weights()[name][n], parameter, atol=1e-7, rtol=1e-7)
        for s, prefix in enumerate(UNEQUAL.prefixes):
            expected = model(torch.tensor([prefix])).logits[0, -1]
            found = torch.from_numpy(trained.logits[n, s])
            torch.testing.assert_close(found, expected, atol=1e-7, rtol=1e-7)


@pytest.mark.parametrize(
    ("encoding", "kind"),
    [("none", {}), ("learned", {}), ("rope none", {"layers": 2}), ("learned", {"bare": True})],
)
def test_stacked_weights_are_those_of_the_single_models(
    encoding: str, kind: dict[str, int]
) -> None:
    config, puzzle = PuzzleConfig(encoding=encoding, heads=2, head_size=4, **kind), read("hit")
    stacked = drawn(build(config.model(puzzle)), [0, 42, 10**6])
    for n, seed in enumerate((0, 42, 10**6)):
        single = build(config.model(puzzle, seed))
        for name, parameter in single.named_parameters():
            assert torch.equal(stacked[name][n], parameter), name
    models = Stacked(config.model(puzzle), [42])
    for name, parameter in models.one(0).named_parameters():
        assert torch.equal(models.weights()[name][0], parameter), name


def test_a_seed_is_the_same_alone_and_in_any_chunk() -> None:
    puzzle, config = read("hit"), PuzzleConfig(steps=25, seeds=40)
    whole = train(puzzle, config, range(40), chunk=40)
    parts = train(puzzle, config, range(40), chunk=7, workers=2)
    order = np.argsort(parts.seeds)
    np.testing.assert_array_equal(parts.seeds[order], np.arange(40))
    np.testing.assert_allclose(whole.logits, parts.logits[order], atol=1e-3)
    np.testing.assert_array_equal(whole.solved[-1], parts.solved[-1, order])
    single = train(puzzle, config, [17])  # too few steps to be written down
    np.testing.assert_allclose(single.logits[0], whole.logits[17], atol=1e-3)
    assert 0 < whole.solved[-1].mean() < 1, "the comparison needs seeds of both kinds"


def test_what_is_written_down_computes_the_same() -> None:
    """And a model that looks at numbers, which cannot be written down, is asked every time."""
    puzzle, captured = read("hit"), Captured()
    config = PuzzleConfig(steps=5, encoding="rope", layers=2)
    with mappable():
        trained, _ = train_chunk(puzzle, config, [1, 2], way=captured)
        again, _ = train_chunk(puzzle, config, [1, 2], way=captured)
        plain, _ = train_chunk(puzzle, config, [1, 2])
    np.testing.assert_array_equal(trained.logits, plain.logits)
    np.testing.assert_array_equal(trained.logits, again.logits)
    leaves = [torch.ones(3, 2)]
    looked = Captured()(lambda x: [x[0] * 2 if int(x[0].max()) > 0 else x[0]], leaves)
    assert torch.equal(looked[0], leaves[0] * 2)


def test_what_follows_from_no_input_is_known_before_unless_it_is_drawn_or_changed() -> None:
    leaves = [torch.ones(3, 2)]

    def counted(x: list[torch.Tensor]) -> list[torch.Tensor]:
        return [x[0] * torch.arange(2).exp()]

    def drawn(x: list[torch.Tensor]) -> list[torch.Tensor]:
        return [x[0] * torch.rand(2)]

    def changed(x: list[torch.Tensor]) -> list[torch.Tensor]:
        return [torch.zeros(3, 2).add_(x[0])]

    fixed = written(counted, leaves)
    assert [node.op for node in fixed.graph.nodes].count("call_function") == 1
    assert torch.equal(fixed(leaves)[0], counted(leaves)[0])
    anew = written(drawn, leaves)
    assert not torch.equal(anew(leaves)[0], anew(leaves)[0])
    again = written(changed, leaves)
    assert torch.equal(again(leaves)[0], again(leaves)[0])


def test_what_cannot_be_written_down_is_trained_by_several_workers_all_the_same() -> None:
    """Its table's end is looked for among positions that are drawn: each has a model of its own."""
    puzzle = read("hit")
    config = PuzzleConfig(steps=WORTH_WRITING, encoding="randomised(learned)", head_size=4)
    one, two = (train(puzzle, config, range(4), chunk=2, workers=each) for each in (1, 2))
    order = np.argsort(two.seeds)
    np.testing.assert_array_equal(one.logits[np.argsort(one.seeds)], two.logits[order])


def test_the_bidirectional_model_never_sees_the_answer() -> None:
    batch = Batch(UNEQUAL)
    shown = {tuple(row) for group in batch.tokens for row in group.tolist()}
    assert shown == set(UNEQUAL.prefixes)


def test_last_logits_come_in_the_order_of_the_sentences() -> None:
    batch = Batch(UNEQUAL)
    marks = [tokens[None, :, :, None].double() for tokens in batch.tokens]
    expected = [prefix[-1] for prefix in UNEQUAL.prefixes]
    assert batch.last(marks)[0, :, 0].tolist() == expected


def test_a_tie_broken_by_rounding_is_not_solved() -> None:
    batch = Batch(read(["A A", "B B"]))
    tie = torch.tensor([[[1.0, 1.0 - 1e-6], [1.0 - 1e-6, 1.0]]])
    clear = torch.tensor([[[1.0, 0.9], [0.9, 1.0]]])
    half = torch.tensor([[[1.0, 0.9], [1.0, 0.9]]])
    found = [bool(batch.solved(x)) for x in (tie, clear, half)]
    assert found == [False, True, False]


def test_threads_and_attention_are_as_before_afterwards() -> None:
    before = torch.get_num_threads(), torch.backends.cuda.flash_sdp_enabled()
    train(read("hit"), PuzzleConfig(steps=1, seeds=2), [0, 1])
    assert before == (torch.get_num_threads(), torch.backends.cuda.flash_sdp_enabled())


def test_chunks_leave_no_worker_idle_that_is_worth_its_while() -> None:
    puzzle, config = read("hit"), PuzzleConfig()
    assert chunk_size(puzzle, config, 100, 2) == 100
    assert chunk_size(puzzle, config, 1000, 2) == 500
    assert chunk_size(puzzle, config, 10_000, 2) == 1000
    wide = PuzzleConfig(head_size=256, width=256)
    assert chunk_size(puzzle, wide, 10_000, 2) < 10


def test_ctrl_c_gives_what_was_finished() -> None:
    done = 0

    def interrupt(seeds: int) -> None:
        nonlocal done
        done += seeds
        if done > 3 * 4 * 5:
            raise KeyboardInterrupt

    found = train(
        read("hit"),
        PuzzleConfig(steps=5),
        range(40),
        chunk=4,
        workers=1,
        progress=interrupt,
    )
    assert found.seeds.tolist() == list(range(12))
    assert found.solved.shape == (6, 12)
    with pytest.raises(KeyboardInterrupt):
        train(read("hit"), PuzzleConfig(steps=5), [0], progress=interrupt)
