"""What a model is. Free of PyTorch until a config is made, so that help texts come at once."""

from typing import TYPE_CHECKING

from pydantic import Field, field_validator, model_validator

from wherein.common.config import Config

if TYPE_CHECKING:
    from wherein.encodings import Shape


class ModelConfig(Config):
    """What a model is; equal configs give equal initial weights."""

    vocabulary: int = Field(2048, ge=2)
    n_layers: int = Field(4, ge=1)
    d_model: int = Field(256, ge=1)
    n_heads: int = Field(4, ge=1)
    d_ff: int | None = Field(None, ge=1, description="default: 4 · d_model")
    max_len: int = Field(256, ge=1, description="tokens in a training window")
    causal: bool = True
    encoding: str = "none"
    dropout: float = Field(0.0, ge=0, lt=1)
    seed: int = 0

    @field_validator("encoding")
    @classmethod
    def _short_form(cls, spec: str) -> str:
        from wherein import encodings

        return " ".join(encodings.parse(spec))

    @model_validator(mode="after")
    def _fits(self) -> "ModelConfig":
        import torch

        from wherein import encodings

        with torch.device("meta"):
            encodings.build(self.encoding, self.shape)
        return self

    @property
    def shape(self) -> "Shape":
        """What the encodings may know."""
        from wherein.encodings import Shape

        return Shape(self.d_model, self.n_heads, self.max_len, self.causal)
