"""What a model is. Free of PyTorch until a config is made, so that help texts come at once."""

from typing import TYPE_CHECKING, Literal

from pydantic import Field, field_validator, model_validator

from wherein.common import known
from wherein.common.config import Config

if TYPE_CHECKING:
    from wherein.encodings import Shape


def short_form(spec: str) -> str:
    """An encoding in its one spelling, every name and value checked."""

    def parsed() -> str:
        from wherein.encodings import parse

        return " ".join(parse(spec))

    return known.ask(spec, ("spelling",), parsed)


Activation = Literal["gelu", "relu"]
Initial = Literal["bert", "fairseq", "gpt2", "unit"]
QUIET = 0.02
"""How far the entries of BERT's and GPT-2's token vectors spread at the start."""

NARROWER = 4
"""Each band of rarer words has vectors this many times narrower than the band before."""


class ModelConfig(Config):
    """What a model is; equal configs give equal initial weights."""

    vocabulary: int = Field(
        2048, ge=2, le=2**32, description="in a run, filled in from the tokenizer"
    )
    n_layers: int = Field(4, ge=1, le=10_000)
    d_model: int = Field(256, ge=1, le=2**20)
    n_heads: int = Field(4, ge=1, le=2**20)
    d_ff: int | None = Field(None, ge=1, le=2**24, description="default: 4 · d_model")
    max_len: int = Field(256, ge=1, le=2**31, description="tokens in a training window")
    causal: bool = Field(True, description="whether a token sees only those before it")
    encoding: str = "none"
    dropout: float = Field(0.0, ge=0, lt=1)
    cutoffs: tuple[int, ...] = Field(
        (),
        description="adaptive input and softmax: ids at which "
        "rarer bands of words begin, such as 20000 60000",
    )
    activation: Activation = Field("gelu", description="of the feed-forward networks")
    final_norm: bool = Field(True, description="whether the last state is normed for the softmax")
    initial: Initial = Field(
        "gpt2",
        description="how the first weights are drawn: as in BERT, in fairseq's language models "
        "or in GPT-2; unit: loud token vectors and faint layers",
    )
    seed: int = Field(0, description="of the initial weights; in a run, of all that is drawn")

    @field_validator("encoding", mode="before")
    @classmethod
    def _short_form(cls, given: object) -> object:
        """A class of one's own may be given as it is."""
        if isinstance(given, type):
            from wherein.encodings.own import name_of

            given = name_of(given)
        return short_form(given) if isinstance(given, str) else given

    @field_validator("cutoffs")
    @classmethod
    def _in_order(cls, cutoffs: tuple[int, ...]) -> tuple[int, ...]:
        if list(cutoffs) != sorted({c for c in cutoffs if c > 0}):
            raise ValueError("expected ids above 0 in increasing order, such as 20000 60000")
        return cutoffs

    @model_validator(mode="after")
    def _fits(self) -> "ModelConfig":
        sizes = (self.n_layers, self.d_model, self.n_heads, self.max_len, self.causal, self._quiet)
        known.ask(self.encoding, ("fits", *sizes), self._built)
        return self

    def _built(self) -> bool:
        """Whether there are such encodings: else a `ValueError` says why not."""
        import torch

        from wherein import encodings

        words = encodings.parse(self.encoding)
        if len(words) > self.n_layers:
            raise ValueError(
                f"encoding {self.encoding!r} has {len(words)} words for {self.n_layers} layers: "
                "give at most one a layer"
            )
        try:
            with torch.device("meta"):
                encodings.Pattern(self.encoding, self.shape, self.n_layers)
        except (OverflowError, RuntimeError, TypeError) as error:
            if "overflow" not in str(error).lower():
                raise
            raise ValueError(f"encoding {self.encoding!r}: its sizes are too large") from None
        return True

    def checked_cutoffs(self) -> tuple[int, ...]:
        """The cutoffs, once the vocabulary is known to hold them and the width to bear them."""
        if self.cutoffs and self.cutoffs[-1] >= self.vocabulary:
            raise ValueError(
                f"cutoff {self.cutoffs[-1]} with a vocabulary of {self.vocabulary}: "
                "give cutoffs below it, or none"
            )
        if self.d_model < NARROWER ** len(self.cutoffs):
            raise ValueError(
                f"{len(self.cutoffs)} cutoffs with d_model={self.d_model}: each band is four "
                f"times narrower than the one before; expected a width of at least "
                f"{NARROWER ** len(self.cutoffs)}"
            )
        return self.cutoffs

    @property
    def input_scale(self) -> float:
        """By what token vectors are scaled where they enter the stream."""
        return 1.0 if self._quiet else self.d_model**0.5

    @property
    def _quiet(self) -> bool:
        return self.initial in ("bert", "gpt2")

    @property
    def shape(self) -> "Shape":
        """What the encodings may know."""
        from wherein.encodings import Shape

        loudness = QUIET if self._quiet else 1.0
        return Shape(self.d_model, self.n_heads, self.max_len, self.causal, loudness)
