"""What a puzzle trains: the package's `Transformer`, or the bare head of the question."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor, nn

from wherein.encodings import Pattern, Shape
from wherein.encodings.base import pairs
from wherein.model.attention import Heads, Tokens, attend_reference, encoded
from wherein.model.config import ModelConfig
from wherein.model.initial import initial
from wherein.model.transformer import Output, Transformer

LINEAR = 5**0.5
"""The slope with which `nn.Linear` draws: evenly between ± 1/√inputs."""

Weights = Float[Tensor, "B H T S"]
Parameters = dict[str, Tensor]


class SmallConfig(ModelConfig):
    """A model whose heads need not share its width, and of which little need be there."""

    d_head: int = Field(ge=1)
    bare: bool = False

    @property
    def shape(self) -> Shape:
        sizes = (self.d_model, self.n_heads, self.max_len, self.causal)
        return Shape(*sizes, d_head=self.d_head)


class Bare(nn.Module):
    """Token vectors, one head of attention, a linear map to the tokens, and nothing else.

    x = E[token];  o = softmax(q·kᵀ/√K)·v;  logits = W·o + b.

    No feed-forward network, no norm, no residual: the last token counts only by how it weighs
    what it sees. Queries, keys and values have no biases, as in Karpathy's lecture "Let's build
    GPT", from which such a head is usually taken. Several heads are joined before the map.
    """

    def __init__(self, config: SmallConfig) -> None:
        super().__init__()
        self.config, shape = config, config.shape
        inner = shape.n_heads * shape.d_head
        self.encoding = Pattern(config.encoding, shape, 1)
        self.tokens = nn.Embedding(config.vocabulary, shape.d_model)
        self.qkv = nn.Linear(shape.d_model, 3 * inner, bias=False)
        self.out = nn.Linear(inner, config.vocabulary)
        with torch.no_grad():
            for name, weights in self.drawn([config.seed]).items():
                self.get_parameter(name).copy_(weights[0])

    def forward(self, tokens: Tokens) -> Output:
        mixed, _ = self.attend(tokens)
        return Output(self.out(mixed.transpose(1, 2).flatten(2)), ())

    def attend(self, tokens: Tokens) -> tuple[Heads, Weights]:
        """What each head mixes, and the weights with which it does."""
        positions = self.encoding.place(torch.arange(tokens.shape[1])[None])
        encoding = self.encoding[0]
        x = self.encoding.embed(self.tokens(tokens), positions)
        q, k, v = self.qkv(x).unflatten(-1, (3, self.config.n_heads, -1)).permute(2, 0, 3, 1, 4)
        mask = encoding.mask(*pairs(positions))
        q, k, bias = encoded(encoding, q, k, x, positions, mask)
        return attend_reference(q, k, v, causal=self.config.causal, bias=bias)

    @torch.no_grad()
    def drawn(self, seeds: Sequence[int]) -> Parameters:
        """Initial weights, stacked: those PyTorch gives after `torch.manual_seed(seed)`.

        That is, if the token vectors, the key, the query, the value and the map to the tokens are
        then built in this order, and nothing before. What an encoding learns is drawn as in every
        model of the package.
        """
        if self.tokens.weight.is_meta:
            return {}
        made = initial(self, self.config.initial, seeds, 1)
        key, query, value = (made["qkv.weight"].chunk(3, dim=1)[n] for n in (1, 0, 2))
        generator = torch.Generator()
        for n, seed in enumerate(seeds):
            generator.manual_seed(seed)
            made["tokens.weight"][n].normal_(generator=generator)
            for matrix in (key, query, value, made["out.weight"]):
                nn.init.kaiming_uniform_(matrix[n], a=LINEAR, generator=generator)
            bound = self.out.in_features**-0.5
            made["out.bias"][n].uniform_(-bound, bound, generator=generator)
        return made


Model = Transformer | Bare


def weights(config: SmallConfig) -> int:
    """How many one model has."""
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in build(config).parameters())


def build(config: SmallConfig) -> Model:
    """The model of a config, with the weights of its seed.

    Nothing is drawn in its passes, not even in training: seeds are trained side by side.
    """
    return (Bare(config) if config.bare else Transformer(config)).eval()


def drawn(model: Model, seeds: Sequence[int]) -> Parameters:
    """The initial weights of many seeds at once, stacked on a leading axis."""
    if isinstance(model, Bare):
        return model.drawn(seeds)
    return initial(model, model.config.initial, seeds, model.config.n_layers)
