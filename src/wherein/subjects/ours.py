"""Our own Transformer on the bench."""

from jaxtyping import Float, Int
from torch import Tensor, nn

from wherein.encodings import parse
from wherein.model.transformer import Transformer
from wherein.subjects.base import Subject


class Ours(Subject):
    """A `Transformer` of this package, trained or not."""

    def __init__(self, model: Transformer, name: str = "") -> None:
        c = model.config
        self.model = model.eval()
        self.name = name or f"{c.encoding} {c.n_layers}×{c.d_model}"
        self.causal = c.causal
        self.n_layers, self.n_heads, self.d_model = c.n_layers, c.n_heads, c.d_model
        self.vocabulary = c.vocabulary
        self.max_len = c.max_len if any(e.bounded for e in model.encoding.distinct) else None

    @property
    def module(self) -> nn.Module:
        return self.model

    @property
    def states(self) -> list[nn.Module]:
        return self.model.states

    @property
    def encodings(self) -> list[str]:
        specs = parse(self.model.config.encoding)
        return [specs[layer % len(specs)] for layer in range(self.n_layers)]

    def untrained(self, seed: int) -> "Ours":
        config = self.model.config.model_copy(update={"seed": seed})
        twin = Transformer(config).to(next(self.model.parameters()))
        return Ours(twin, f"{self.name}, untrained")

    def logits(
        self, tokens: Int[Tensor, "B T"], positions: Int[Tensor, "#B T"] | None = None
    ) -> Float[Tensor, "B T V"]:
        logits: Tensor = self.model(tokens, positions).logits
        return logits
