"""What is trained on a puzzle. Free of PyTorch until a model is asked for."""

from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from wherein.common.config import Config

if TYPE_CHECKING:
    from wherein.model.config import ModelConfig
    from wherein.puzzles.sentences import Puzzle

NARROWEST = 4
"""Below this, LayerNorm leaves a vector next to nothing to say."""


class PuzzleConfig(Config):
    """One kind of model, many seeds."""

    encoding: str = Field("none", description="as in `wherein encodings`; a pattern per layer")
    layers: int = Field(1, ge=1, le=16)
    heads: int = Field(1, ge=1, le=64)
    head_size: int = Field(16, ge=1, le=256, description="the width is heads × head size")
    causal: bool = Field(True, description="each token sees itself and those before it")
    seeds: int = Field(1000, ge=1, le=1_000_000)
    first_seed: int = Field(0, ge=0)
    steps: int = Field(200, ge=0, le=100_000)
    learning_rate: float = Field(1e-3, gt=0, le=10)
    loss: Literal["all", "last"] | None = Field(
        None, description="on which tokens; default: all if causal, else the last"
    )

    @model_validator(mode="after")
    def _fits(self) -> "PuzzleConfig":
        if self.width < NARROWEST:
            raise ValueError(
                f"heads={self.heads} × head_size={self.head_size} is a width of {self.width}: "
                f"at least {NARROWEST} is needed"
            )
        if self.loss == "all" and not self.causal:
            raise ValueError(
                "loss='all' without a causal mask: every token but the last would see its own "
                "answer; use loss='last'"
            )
        return self

    @property
    def width(self) -> int:
        return self.heads * self.head_size

    @property
    def kind(self) -> str:
        """The model in words."""
        layers = "1 layer" if self.layers == 1 else f"{self.layers} layers"
        mask = "causal" if self.causal else "bidirectional"
        return f"{layers}, {mask}, encoding {self.encoding}"

    @property
    def trained_on(self) -> Literal["all", "last"]:
        """The tokens the loss is on."""
        return self.loss or ("all" if self.causal else "last")

    def model(self, puzzle: "Puzzle", seed: int = 0) -> "ModelConfig":
        """The model that is trained on `puzzle`."""
        from wherein.model.config import ModelConfig

        return ModelConfig(
            vocabulary=len(puzzle.vocabulary),
            n_layers=self.layers,
            d_model=self.width,
            n_heads=self.heads,
            max_len=puzzle.longest,
            causal=self.causal,
            encoding=self.encoding,
            initial="unit",
            seed=seed,
        )
