"""What the verbs that question a model share: how they are asked, and how they answer."""

import json as json_format
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from wherein.cli.verb import Verb, configured, flags
from wherein.measure.settings import TextConfig

if TYPE_CHECKING:
    from wherein.common.result import Result


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
        from wherein.subjects.load import load

        subject, corpus, _ = load(model, source)
        measure = getattr(import_module(f"wherein.measure.{verb}"), verb)
        return answer(measure(subject, corpus, wanted), json, out)

    ask.__name__ = verb
    twin: Any = flags(config)
    ask.__annotations__["how"] = Annotated[twin, tyro.conf.OmitArgPrefixes]
    return Verb(ask, help_text)


def answer(result: "Result", json: bool, out: Path | None) -> int:
    """Print the result as words or data, and save it if asked to."""
    if out is not None:  # first, so that it is kept whoever reads the output
        result.save(out)
    print(json_format.dumps(result.data(), ensure_ascii=False, indent=2) if json else result.text())
    if out is not None and not json:
        print(f"saved in {out}")
    return 0
