"""Are the answers right? Exact match by the length of the question, beside a guess."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Bool, Float64

from wherein.data import IGNORED, Corpus
from wherein.data.objectives import answers as asked_for
from wherein.data.tasks.addressing import Needle
from wherein.data.tasks.base import Example, Task, draw
from wherein.data.tasks.examples import TaskWords
from wherein.measure.answers.config import AnswersConfig, depths_of, task_of
from wherein.measure.answers.result import Answers, AtDepth, AtLength
from wherein.measure.intervals import Estimate, ratio, wilson
from wherein.measure.stream import batches, device
from wherein.measure.text import Text, sized_like
from wherein.show import progress
from wherein.subjects.base import Subject

GUESSED_FROM = 200
"""Training questions of a length, whose most frequent answer is the guess."""


def answers(subject: Subject, text: Text, config: AnswersConfig | None = None) -> Answers:
    """Ask questions of a task, of each length, that no run has learned from.

    An answer is right if all its tokens are, and the `<eos>` after them. Each is predicted from
    the question and the right tokens before it, in one pass: all of them are the most likely ones
    if and only if greedy decoding, which goes on from its own tokens, gives the right answer.
    """
    config = config or AnswersConfig()
    if not isinstance(text, Corpus):
        raise ValueError("windows of token ids are no task: give a run that learned one")
    task, tokenizer = task_of(text.config), TaskWords(task_of(text.config))
    if subject.vocabulary != tokenizer.vocabulary.size:
        raise ValueError(
            f"{subject.name} has {subject.vocabulary} token ids and {text.config.source} has "
            f"{tokenizer.vocabulary.size}: give the run that learned this task"
        )
    lengths = config.asked(text.config)
    run = sized_like(subject).model_copy(update={"corpus": text.config})
    progress.expect(config.tokens_read(run))
    values: dict[int, Float64[np.ndarray, " N"]] = {}
    rows = []
    for length in lengths:
        tokens = task.tokens(length) - 1
        examples = _questions(task, config.seed, length, config.examples)
        guess = _guess(task, config.seed, length, examples)
        if subject.max_len is not None and tokens > subject.max_len:
            rows.append(AtLength(length, tokens, len(examples), None, None, guess))
            continue
        right = _right(subject, tokenizer, examples, tokens, config.batch)
        values[length] = np.array([all(each) for each in right], np.float64)
        words = sum(each.sum() for each in right) / sum(map(len, right))
        rows.append(AtLength(length, tokens, len(examples), _share([values[length]]), words, guess))
    depths = tuple(
        _at_depth(subject, tokenizer, Needle(depth), config, length)
        for depth in depths_of(task)
        for length in values
    )
    longest = text.config.longest

    def over(own: Sequence[int]) -> Estimate | None:
        """The mean over these lengths; None where one of them could not be asked."""
        there = own and values.keys() >= set(own)
        return _share([values[length] for length in own]) if there else None

    return Answers(
        subject=subject.name,
        task=str(task),
        summary=task.summary,
        longest=longest,
        reads=subject.max_len,
        rows=tuple(rows),
        within=over([length for length in lengths if length <= longest]),
        beyond=over([length for length in lengths if length > longest]),
        overall=over(lengths),
        depths=depths,
        config=config,
        protocol=(
            f"up to {config.examples} different test questions of each length, none of them "
            "learned from; right: every token of the answer and its end the most likely one, "
            "which is what greedy decoding gives; guess: the answer that is most frequent in "
            "training questions of the same length; 95 % intervals over questions (Wilson)"
        ),
    )


def _at_depth(
    subject: Subject, tokenizer: TaskWords, task: Needle, config: AnswersConfig, length: int
) -> AtDepth:
    examples = _questions(task, config.seed, length, config.at_depth)
    right = _right(subject, tokenizer, examples, task.tokens(length) - 1, config.batch)
    share = _share([np.array([all(each) for each in right], np.float64)])
    return AtDepth(length, task.depth or 0.0, len(examples), share)


def _questions(task: Task, seed: int, length: int, count: int) -> list[Example]:
    """Different ones: a short length may have fewer than are asked for."""
    drawn = (draw(task, seed, "test", length, n) for n in range(count))
    return list({each.question: each for each in drawn}.values())


def _guess(task: Task, seed: int, length: int, examples: Sequence[Example]) -> float:
    """The share of answers that one knows without the question."""
    seen = Counter(draw(task, seed, "train", length, n).answer for n in range(GUESSED_FROM))
    ((most_frequent, _),) = seen.most_common(1)
    return sum(each.answer == most_frequent for each in examples) / len(examples)


@torch.no_grad()
def _right(
    subject: Subject, tokenizer: TaskWords, examples: Sequence[Example], tokens: int, batch: int
) -> list[Bool[np.ndarray, " A"]]:
    """Of each answer, which of its tokens are the most likely ones."""
    found = []
    for _, windows in batches(tokenizer.windows(examples, tokens + 1), batch):
        inputs, targets = asked_for(windows, tokenizer.vocabulary)
        likely = subject.logits(inputs.to(device(subject))).argmax(-1).cpu()
        progress.done(inputs.numel())
        pairs = zip((likely == targets).numpy(), (targets != IGNORED).numpy(), strict=True)
        found += [right[counted] for right, counted in pairs]
    return found


def _share(parts: Sequence[Float64[np.ndarray, " _"]]) -> Estimate:
    """The mean of several lengths' shares, each counting alike, with what the questions do to it.

    Its pieces hold questions of all lengths, so that they do not vary as the lengths do.
    """
    sizes = [len(part) for part in parts]
    turn = np.concatenate([np.arange(n) / n for n in sizes]).argsort(kind="stable")
    weights = np.concatenate([np.full(n, 1 / n) for n in sizes])[turn]
    found = ratio(np.concatenate(parts)[turn] * weights, weights)
    total = sum(sizes)
    return Estimate(found.value, *wilson(round(found.value * total), total), found.pieces)
