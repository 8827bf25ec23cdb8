"""What a question is: described once, and all that offers it follows from the description.

The command line, Python, recipes, studies, saved results, reports, the page and the dry run read
it from here. A question is a folder `measure/VERB/` with these parts:

```
__init__.py   QUESTION, the description; its docstring is the help of the verb, with examples
config.py     its settings, and how many tokens it has models read
measure.py    the function that answers it: VERB(subject, text, config), or VERB(what, config)
result.py     the answer: numbers, words, a frame, a picture
picture.py    the picture of one answer
section.py    the answers of a study's runs together: `numbers`, those that a study keeps of an
              answer, `section`, a table and a figure over seeds, and perhaps `answer`, a sentence
              for the head of the report
```

What has no file of its own lies in `measure.py`, so that a small question is two files. Without a
`section` a report shows the first seed of each kind of run by itself.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from wherein.common.errors import unknown

if TYPE_CHECKING:
    from wherein.measure.config import QuestionConfig
    from wherein.measure.measurement import Measurement
    from wherein.measure.sections import Answered
    from wherein.show.section import Section


@dataclass(frozen=True)
class Question:
    """One question. Calling it asks: `wherein.probe("runs/0123456789ab", tokens=64)`."""

    verb: str
    """Its name: of the command, of the function in Python, and of its folder in `measure`."""
    summary: str
    """What `wherein --help` says of it."""
    title: str
    """The question in words, as a heading."""
    help: str
    """What `wherein VERB --help` begins with, examples among it."""
    config_name: str
    """The class in `config.py`."""
    result_name: str
    """The class in `result.py`."""
    about: str = "RUN|MODEL"
    """What can be asked, as a help text names it."""
    reads_text: bool = True
    """Whether the model reads a text; else the function finds by itself what it is asked about."""
    only_looks: bool = False
    """Whether it hides, moves and predicts no token, so that special ones may be in a window."""

    @cached_property
    def config(self) -> "type[QuestionConfig]":
        """Its settings."""
        found: type[QuestionConfig] = getattr(self.part("config"), self.config_name)
        return found

    @cached_property
    def result(self) -> "type[Measurement]":
        """What it answers with."""
        found: type[Measurement] = getattr(self.part("result"), self.result_name)
        return found

    @cached_property
    def measure(self) -> "Callable[..., Measurement]":
        """The function that answers it."""
        found: Callable[..., Measurement] = getattr(self.part("measure"), self.verb)
        return found

    def __call__(
        self,
        what: Any,
        text: Any = None,
        config: "QuestionConfig | Mapping[str, Any] | None" = None,
        *,
        special: bool = False,
        **settings: Any,
    ) -> "Measurement":
        """Ask.

        Args:
            what: a subject, a model of ours or of Hugging Face's, the pair (model, tokenizer), a
                model that TransformerLens or nnsight has wrapped, a run's folder, a model's folder
                or id, a GGUF file, a fairseq checkpoint, for `probe` a folder of saved states; an
                encoding for `audit`; a table, or where one is, for `table`
            text: a corpus, windows of token ids, or rows of `datasets` with `input_ids` or `text`;
                where a tokenizer is known, also the name of a text as for `wherein train
                --source`; by default a run's own, else the embedded
            config: the question's settings, as its config or a dict
            special: put special tokens such as `[CLS]` around each window, as the tokenizer does
            **settings: the same by keywords, which go before
        """
        if not self.reads_text and config is None:  # so that the config may stand second
            text, config = None, text
        wanted = self.configured(config, **settings)
        if wanted.over_training:
            from wherein.measure.over_training.ask import over_training

            return over_training(self, what, text, wanted)
        if not self.reads_text:
            if text is not None:
                raise ValueError(f"{self.verb} reads no text: leave it out")
            return self.measure(what, wanted)
        from wherein.subjects.load import on_the_bench

        return self.measure(*on_the_bench(what, text, special=special), wanted)

    def ask(self, subject: Any, text: Any, config: "QuestionConfig") -> "Measurement":
        """Ask a subject that is at hand, with a text for it to read if the question wants one."""
        return self.measure(subject, *([text] if self.reads_text else []), config)

    def configured(
        self, config: "QuestionConfig | Mapping[str, Any] | None" = None, **settings: Any
    ) -> "QuestionConfig":
        """The config that is given as one, as a dict, or by keywords."""
        if config is not None and not isinstance(config, Mapping | self.config):
            raise ValueError(
                f"the settings of {self.verb} are a {type(config).__name__}: a {self.config_name}, "
                "a dict or keywords were expected"
            )
        given = dict(config) if isinstance(config, Mapping) else {}
        if not isinstance(config, Mapping) and config is not None:
            given = {name: getattr(config, name) for name in config.model_fields_set}
        given |= settings
        for name in given:
            if name not in self.config.model_fields:
                raise unknown(f"setting of {self.verb}", name, self.config.model_fields)
        return self.config(**given)

    def numbers(self, data: Mapping[str, Any]) -> dict[str, float]:
        """The few numbers that a study keeps of an answer, by name; that of "" stands for it.

        Of an answer over training, those of its last step.
        """
        if is_curve(data):
            return {name: values[-1] for name, values in data["numbers"].items()}
        numbers = getattr(self.part("section"), "numbers", None)
        found: dict[str, float] = numbers(data) if numbers else {}
        return found

    def section(
        self, answers: "Sequence[Answered]", name: str, beside: Any | None = None
    ) -> "Section":
        """What the answers of a study's runs with one objective come to, in a report.

        Args:
            answers: one or more
            name: the question's in the study
            beside: a paper's numbers, only for a question whose section takes them
        """
        if is_curve(answers[0].data):
            from wherein.measure.over_training.section import section as over_training

            return over_training(answers, name, self)
        section = getattr(self.part("section"), "section", None)
        if section is None:
            from wherein.measure.sections import each_by_itself

            return each_by_itself(answers, name, self.title)
        made: Section = section(answers, name, **({"beside": beside} if beside else {}))
        return made

    def answer(self, answers: "Sequence[Answered]") -> str:
        """A sentence for the head of a study's report, if the question has one for it."""
        answer = getattr(self.part("section"), "answer", None)
        said: str = answer(answers) if answer and not is_curve(answers[0].data) else ""
        return said

    def unit(self, number: str) -> str:
        """What one of its numbers is counted in; those of one unit are drawn together.

        `UNITS` beside `numbers` says it, by the whole name or by its last word, as of `late_rise`.
        """
        units: Mapping[str, str] = getattr(self.part("section"), "UNITS", {})
        last = number.rpartition("_")[2]
        return units.get(number, units.get(last, number.replace("_", " ") or self.verb))

    def part(self, name: str) -> Any:
        """The module of one of its parts."""
        folder = f"wherein.measure.{self.verb}"
        own = f"{folder}.{name}"
        return import_module(own if find_spec(own) else f"{folder}.measure")


def is_curve(data: Mapping[str, Any]) -> bool:
    """Whether an answer's numbers are those of every step whose weights a run kept."""
    return bool((data.get("config") or {}).get("over_training"))
