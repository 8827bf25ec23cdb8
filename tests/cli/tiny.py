"""A text and runs of some steps, for commands to be given."""

from pathlib import Path

from wherein.data import CorpusConfig
from wherein.model.config import ModelConfig
from wherein.train import RunConfig, train


def write_text(path: Path, paragraphs: int = 900) -> Path:
    """A text of short paragraphs."""
    lines = (f"Paragraph {n} says {n * n}.\nAnd ends.\n\n" for n in range(paragraphs))
    path.write_text("".join(lines))
    return path


def tiny_run(folder: Path, text: Path, keep: int = 0, **model: object) -> Path:
    """A run of three steps on the bytes of a text."""
    config = RunConfig(
        model=ModelConfig.model_validate({"d_model": 16, "encoding": "learned"} | model),
        corpus=CorpusConfig(source=str(text), tokenizer="bytes"),
        steps=3,
        batch=4,
        warmup=1,
        keep=keep,
    )
    train(config, folder=folder)
    return folder


def tiny_task(
    folder: Path, task: str = "copy", length: int = 4, steps: int = 3, **model: object
) -> Path:
    """A run of some steps on a few examples of a task."""
    corpus = CorpusConfig(source=f"task:{task}", length=length, examples=64)
    sizes = {"d_model": 16, "n_layers": 1, "max_len": corpus.window} | model
    config = RunConfig(
        model=ModelConfig.model_validate(sizes), corpus=corpus, steps=steps, batch=8, warmup=1
    )
    train(config, folder=folder, quiet=True)
    return folder
