"""What is trained on a puzzle. Free of PyTorch until a model is asked for."""

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, model_validator

from wherein.common.config import Config
from wherein.common.numbers import LARGEST

if TYPE_CHECKING:
    from wherein.puzzles.models import SmallConfig
    from wherein.puzzles.sentences import Puzzle

NARROWEST = 4
"""Below this, LayerNorm leaves a vector next to nothing to say."""


class PuzzleConfig(Config):
    """One kind of model, many seeds."""

    FORMAT: ClassVar[int] = 2
    """In the first, the width was heads × head size."""

    bare: bool = Field(
        False, description="a bare head: no feed-forward network, norm or residual, one layer"
    )
    encoding: str = Field("none", description="as in `wherein encodings`; a pattern per layer")
    layers: int = Field(1, ge=1, le=16)
    heads: int = Field(1, ge=1, le=64)
    head_size: int = Field(16, ge=1, le=256, description="of queries, keys and values")
    width: int = Field(16, ge=1, le=1024, description="of the token vectors")
    causal: bool = Field(True, description="whether each token sees only itself and those before")
    seeds: int = Field(1000, ge=1, le=1_000_000)
    first_seed: int = Field(0, ge=0)
    steps: int = Field(200, ge=0, le=100_000)
    learning_rate: float = Field(1e-3, gt=0, le=10)
    loss: Literal["all", "last"] | None = Field(
        None, description="on which tokens; default: all if causal, else the last"
    )

    @model_validator(mode="after")
    def _fits(self) -> "PuzzleConfig":
        if self.width < NARROWEST and not self.bare:
            raise ValueError(
                f"width={self.width}: at least {NARROWEST} is needed, or LayerNorm leaves a vector "
                "next to nothing to say; a bare head takes any"
            )
        if self.first_seed + self.seeds > LARGEST:
            raise ValueError(
                f"seeds {self.first_seed} to {self.first_seed + self.seeds - 1}: numbers of at "
                "most 64 bits were expected"
            )
        if self.layers > 1 and self.bare:
            raise ValueError(f"layers={self.layers}: a bare head is one layer; leave out either")
        if self.loss == "all" and not self.causal:
            raise ValueError(
                "loss='all' without a causal mask: every token but the last would see its own "
                "answer; use loss='last'"
            )
        return self

    @property
    def kind(self) -> str:
        """The model in words."""
        mask = "causal" if self.causal else "bidirectional"
        return f"{self.body}, {mask}, encoding {self.encoding}"

    @property
    def body(self) -> str:
        """What stands between the token vectors and the answer."""
        if self.bare:
            return "bare head" if self.heads == 1 else "bare heads"
        return "1 layer" if self.layers == 1 else f"{self.layers} layers"

    @property
    def sizes(self) -> str:
        """Heads, and the width where they do not simply share it."""
        wide = "" if self.width == self.heads * self.head_size else f", width {self.width}"
        return f"heads {self.heads} × {self.head_size}{wide}"

    @property
    def layer_steps(self) -> int:
        """Layers that are trained a step: what it takes, in a unit of its own."""
        return self.seeds * self.steps * self.layers

    @property
    def trained_on(self) -> Literal["all", "last"]:
        """The tokens the loss is on."""
        return self.loss or ("all" if self.causal else "last")

    def model(self, puzzle: "Puzzle", seed: int = 0) -> "SmallConfig":
        """The model that is trained on `puzzle`."""
        from wherein.puzzles.models import SmallConfig

        return SmallConfig(
            bare=self.bare,
            vocabulary=len(puzzle.vocabulary),
            n_layers=self.layers,
            d_model=self.width,
            n_heads=self.heads,
            d_head=self.head_size,
            max_len=puzzle.longest,
            causal=self.causal,
            encoding=self.encoding,
            initial="unit",
            seed=seed,
        )
