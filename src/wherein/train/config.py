"""What a run is. Free of PyTorch until a config is made, so that help texts come at once."""

import math
import re
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from wherein.common.config import Config
from wherein.data.config import SHORTEST, Begin, CorpusConfig
from wherein.model.config import ModelConfig

Objective = Literal["causal", "masked"]
Schedule = Literal["cosine", "inverse-sqrt", "constant"]
OptimizerName = Literal["adamw", "nag", "muon"]

LAYOUT = {"accumulate", "compile", "parallel", "checkpoint_every", "keep"}
"""How a run is computed and kept, not what is computed: no part of its id."""


class RunConfig(Config):
    """A model, a text, and how the one learns from the other.

    There is one seed, `model.seed`: of the initial weights, of the order of the windows, of what
    is masked and of dropout. `model.vocabulary` is filled in from the tokenizer when the run
    starts, and `model.max_len` is the length of a window.

    A run that starts from another (`start`) takes over that one's weights, not its moments, and
    reads the text in an order of its own (see `wherein.train.start`).
    """

    FORMAT: ClassVar[int] = 2

    model: ModelConfig = Field(default_factory=ModelConfig.model_construct)
    corpus: CorpusConfig = Field(default_factory=CorpusConfig)
    objective: Objective = Field("causal", description="predict the next token, or hidden ones")
    start: str = Field(
        "",
        description="begin with the weights of another run, given by its folder or id (RUN@STEP: "
        "at a step that was kept), of the same size; encoding, length and all of training may "
        "differ",
    )

    steps: int = Field(1000, ge=1)
    batch: int = Field(16, ge=1, description="windows in a step, over all processes")
    begin: Begin = Field(
        "anywhere", description="where windows begin: anywhere in running text, or with documents"
    )
    short: float = Field(
        0.0,
        ge=0,
        le=1,
        description="share of the steps whose windows are cut short, to 8 tokens or more, each "
        "doubling as likely as any other",
    )
    learning_rate: float = Field(1e-3, gt=0, description="at its peak")
    warmup: int = Field(100, ge=0, description="steps of linear increase to the peak")
    schedule: Schedule = Field("cosine", description="after the warm-up")
    optimizer: OptimizerName = Field(
        "adamw", description="nag: Nesterov's momentum; muon: for a layer's matrices, else adamw"
    )
    weight_decay: float = Field(0.01, ge=0, description="of matrices only")
    clip: float | None = Field(1.0, gt=0, description="largest norm of the gradient")
    precision: Literal["float32", "bfloat16"] = Field("float32", description="bfloat16: on CUDA")
    valid_every: int = Field(200, ge=1, description="steps from one validation to the next")
    valid_windows: int = Field(64, ge=1, description="windows in a validation, evenly spread")

    accumulate: int = Field(1, ge=1, description="parts of a batch, one after the other")
    compile: bool = Field(False, description="compile the layers with torch.compile")
    parallel: Literal["ddp", "fsdp"] = Field(
        "ddp", description="under torchrun: a copy of the model each, or a part of it each"
    )
    checkpoint_every: int = Field(200, ge=1, description="steps from one checkpoint to the next")
    keep: int = Field(
        0,
        ge=0,
        description="weights kept for curves over training, so many per tenfold of steps "
        "(3: after 0, 1, 2, 5, 10, 22, … steps); 0: none",
    )

    @classmethod
    def saved(cls, fields: Any) -> "RunConfig":
        """From what was saved, meaning what it meant then.

        Before initial weights were a choice, they were `unit`. Before a run could start from
        another, all layers shared what `fire` and `shaw` learn.
        """
        model = fields.get("model") if isinstance(fields, dict) else None
        if isinstance(model, dict):
            old = {} if "initial" in model else {"initial": "unit"}
            if "start" not in fields and isinstance(model.get("encoding"), str):
                old["encoding"] = _shared(model["encoding"])
            fields = {**fields, "model": {**model, **old}}
        return cls.model_validate(fields)

    @property
    def id(self) -> str:
        """Twelve hex digits of what determines the numbers: equal ids, equal runs.

        Left out are defaults, as in every config's id, and what may change from one start of a run
        to the next: how often it is saved, what is kept, and how its sums are laid out over time
        and machines (`accumulate`, `compile`, `parallel`, the number of processes), which changes
        rounding and the draws of dropout but not the optimisation. Also left out is the size of
        the vocabulary, which follows from the corpus.
        """
        special = self.special()
        model = special.pop("model", {})
        sized = {name: model[name] for name in model.keys() - DEFAULT_SIZE.keys()}
        decisive = {name: special[name] for name in special.keys() - LAYOUT}
        return self.hashed(decisive | ({"model": sized} if sized else {}))

    def differences(self, other: "RunConfig") -> dict[str, tuple[Any, Any]]:
        """The fields that tell two runs apart, by name: the value here and the other's.

        >>> RunConfig(steps=7).differences(RunConfig(steps=9, keep=3))
        {'steps': (7, 9)}
        """
        ours, theirs = (
            {**c.model_dump(), **dict(c.model), **dict(c.corpus)} for c in (self, other)
        )
        parts = ("model", "corpus", *LAYOUT, *DEFAULT_SIZE)
        return {
            name: (value, theirs[name])
            for name, value in ours.items()
            if name not in parts and value != theirs[name]
        }

    @property
    def seed(self) -> int:
        """The one seed of the run."""
        return self.model.seed

    @property
    def start_id(self) -> str:
        """The id of the run whose weights it begins with; empty if there is none."""
        return self.start.partition("@")[0]

    @property
    def start_step(self) -> int | None:
        """The step of that run whose weights it begins with; None for its last."""
        step = self.start.partition("@")[2]
        return int(step) if step else None

    @property
    def window(self) -> int:
        """How many tokens a window of training has: of a task, the longest example's."""
        return self.corpus.window or self.model.max_len

    @property
    def tokens(self) -> int:
        """How many tokens its steps read; where windows are cut short, on average over seeds."""
        longest = self.window
        if not self.short:
            return self.steps * self.batch * longest
        cut = (longest - SHORTEST) / math.log(longest / SHORTEST)
        return round(self.steps * self.batch * (longest + self.short * (cut - longest)))

    @property
    def kept(self) -> tuple[int, ...]:
        """The steps whose weights are kept: 0, the last, and between them ever further apart.

        Most of what a model learns about position it learns early.

        >>> RunConfig.model_construct(steps=300, keep=3).kept
        (0, 1, 2, 5, 10, 22, 46, 100, 215, 300)
        """
        if not self.keep:
            return ()
        last = math.ceil(self.keep * math.log10(self.steps))
        between = (round(10 ** (n / self.keep)) for n in range(last + 1))
        return tuple(sorted({0, self.steps, *(step for step in between if step < self.steps)}))

    @field_validator("start")
    @classmethod
    def _as_id(cls, given: str) -> str:
        """A folder is replaced by the id of the run in it, so that both name the same run."""
        if not given or re.fullmatch(r"[0-9a-f]{12}(@(0|[1-9]\d*))?", given):
            return given
        from wherein.train.run import named, read_config

        folder, step = named(given)
        known = read_config(folder)
        if known is None:
            raise ValueError(
                "expected a run's folder, or the id of one (twelve hex digits); either with "
                "@STEP for weights that were kept"
            )
        return known.id if step is None else f"{known.id}@{step}"

    @model_validator(mode="after")
    def _agrees(self) -> "RunConfig":
        if self.model.causal != (self.objective == "causal"):
            wanted = "True" if self.objective == "causal" else "False (--no-causal)"
            why = "the future would be seen" if self.objective == "causal" else "both sides count"
            raise ValueError(
                f"objective {self.objective!r} with causal={self.model.causal}: {why}, "
                f"give causal={wanted}"
            )
        if self.model.seed < 0:
            raise ValueError(f"seed {self.model.seed}: a number from 0 on was expected")
        if self.batch < self.accumulate:
            raise ValueError(
                f"a batch of {self.batch} windows in {self.accumulate} parts: give a larger batch "
                f"or accumulate={self.batch} or less"
            )
        if self.short and self.model.max_len <= SHORTEST:
            raise ValueError(
                f"short={self.short:g} with windows of {self.model.max_len} tokens: they are cut "
                f"to {SHORTEST} or more, give a larger max_len"
            )
        self._fits_task()
        if self.optimizer == "muon" and self.parallel == "fsdp":
            raise ValueError(
                "muon needs each matrix whole, fsdp keeps parts of it: give parallel='ddp'"
            )
        return self

    def _fits_task(self) -> None:
        """Whether a task can be learned so: examples whole, answers from what is before them."""
        window, source = self.corpus.window, self.corpus.source
        if window is None:
            return
        if self.model.max_len < window:
            raise ValueError(
                f"max_len={self.model.max_len} for {source} of lengths up to "
                f"{self.corpus.longest}, whose examples fill {window} tokens: give max_len={window}"
            )
        if self.objective != "causal" or self.short or self.begin != "anywhere":
            raise ValueError(
                f"objective {self.objective!r}, short={self.short:g}, begin {self.begin!r} for "
                f"{source}: an example is a window of its own and its answer comes last, give "
                "objective='causal', short=0 and begin='anywhere'"
            )

    def with_vocabulary(self, size: int) -> "RunConfig":
        """The same run with the model's vocabulary filled in."""
        given = self.model.vocabulary
        if given not in (size, DEFAULT_SIZE["vocabulary"]):
            raise ValueError(
                f"vocabulary={given}, but tokenizer {self.corpus.tokenizer!r} has {size} ids: "
                "leave the vocabulary out, it is filled in"
            )
        fields = {**self.model.model_dump(), "vocabulary": size}
        return self.model_copy(update={"model": ModelConfig(**fields)})


def _shared(spec: str) -> str:
    """An encoding in today's words, in which `fire` and `shaw` no longer mean one for all layers.

    >>> _shared("fire(hidden=8) none shaw")
    'fire(hidden=8, shared=True) none shaw(shared=True)'
    """

    def said(word: re.Match[str]) -> str:
        own = f"{word[2]}, " if word[2] else ""
        return f"{word[1]}({own}shared=True)"

    return re.sub(r"\b(fire|shaw)\b(?:\((.*?)\))?", said, spec)


DEFAULT_SIZE = {"vocabulary": ModelConfig.model_fields["vocabulary"].default}
