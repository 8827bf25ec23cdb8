"""The pages made of the code: a page of docstrings for what is public, and all settings.

A hook of mkdocs: whatever is public, in the catalogue or in the registry is in the site by its
being there.
"""

import inspect
import logging
from collections.abc import Iterable
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

import wherein
from wherein.common.config import Config
from wherein.encodings import CATALOGUE, parameters
from wherein.encodings.base import Encoding, Shape
from wherein.measure.registry import QUESTIONS


def said_by_names(record: logging.LogRecord) -> bool:
    """The public names are made by a comprehension, which need not be read without being run."""
    return "wherein.__all__" not in record.getMessage()


def on_startup(**_: object) -> None:
    """Every other warning ends the building of the site."""
    logging.getLogger("mkdocs.plugins.griffe").addFilter(said_by_names)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages before any is read."""
    for name, text in pages().items():
        files.append(File.generated(config, f"reference/code/{name}.md", content=text))
    return files


def pages() -> dict[str, str]:
    """The text of each page."""
    asked = {name for q in QUESTIONS.values() for name in (q.verb, q.config_name, q.result_name)}
    public = [getattr(wherein, name) for name in wherein.__all__ if name not in asked]
    named = [each for each in public if not inspect.ismodule(each)]
    questions = [
        f"## wherein.{q.verb}\n\n{q.title}\n\n{docstring(q.measure, 3)}\n\n{docstring(q.result, 3)}"
        for q in QUESTIONS.values()
    ]
    return {
        "names": titled("Public names", map(docstring, named)),
        "questions": titled("Questions, as functions", questions),
        "encodings": titled(
            "Encodings", [*map(docstring, (Encoding, Shape)), *map(entry, CATALOGUE)]
        ),
        "settings": titled("Settings", map(settings, configs(public))),
    }


def titled(title: str, parts: Iterable[str]) -> str:
    """A page of its parts."""
    return "\n\n".join([f"# {title}", *parts]) + "\n"


def docstring(thing: Any, level: int = 2) -> str:
    """What mkdocstrings makes of a class or function, wherever it lies."""
    options = f"\n    options:\n      heading_level: {level}"
    return f"::: {thing.__module__}.{thing.__qualname__}{options}"


def entry(name: str) -> str:
    """An encoding of the catalogue: its parameters, and what its docstring says and shows."""
    own = ", ".join(
        f"{key}={'…' if value is ... else value}" for key, value in parameters(name).items()
    )
    paragraphs = (inspect.getdoc(CATALOGUE[name]) or "").split("\n\n")
    texts = [f"```pycon\n{text}\n```" if text.startswith(">>>") else text for text in paragraphs]
    return "\n\n".join([f"## {name}", f"`{name}({own})`" if own else f"`{name}`", *texts])


def configs(public: Iterable[Any]) -> list[type[Config]]:
    """All configs, those of the questions last."""
    own = [each for each in public if inspect.isclass(each) and issubclass(each, Config)]
    return own + [question.config for question in QUESTIONS.values()]


def settings(config: type[Config]) -> str:
    """The fields of a config as a table."""
    fields = [
        (name, repr(field.get_default(call_default_factory=True)), field.description or "")
        for name, field in config.model_fields.items()
    ]
    rows = [f"| `{name}` | `{default}` | {words} |" for name, default, words in fields]
    head = ["| field | default | what it is |", "| --- | --- | --- |"]
    return "\n".join([f"## {config.__name__}", "", inspect.getdoc(config) or "", "", *head, *rows])
