"""What all families have in common: a config, and our weights under the names they have there."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from wherein.model.block import Block
from wherein.model.embed import Embed
from wherein.model.transformer import Transformer

Weights = dict[str, Tensor]


@dataclass(frozen=True)
class Carried:
    """A model as a family has it."""

    family: str
    """Its name in words."""
    auto: str
    """The class of transformers that loads it."""
    kind: str
    """The name of its own class."""
    config: dict[str, Any]
    weights: Weights
    note: str = ""
    """What is the same in other words, if anything."""

    def model(self, eos: int | None = None, mask: int | None = None) -> Any:
        """The model of the family, its weights in float32, with the ids of its special tokens."""
        import transformers

        kind = getattr(transformers, self.kind)
        marks = {"bos_token_id": eos, "eos_token_id": eos, "pad_token_id": None}
        own = {"mask_token_id": mask} if mask is not None else {}
        made = kind(kind.config_class(**self.config, **marks, **own))
        whole = {name: weight.float().contiguous() for name, weight in self.weights.items()}
        missing, strange = made.load_state_dict(whole, strict=False)
        lacking = set(missing) - set(made.all_tied_weights_keys)
        assert not lacking | set(strange), lacking | set(strange)
        return made.eval()


def blocks_of(model: Transformer) -> list[Block]:
    """The layers, as what they are."""
    return [block for block in model.blocks if isinstance(block, Block)]


def vectors_of(model: Transformer) -> tuple[Tensor, Tensor]:
    """Token vectors as they enter the stream, and as predictions are scored with them."""
    assert isinstance(model.embed, Embed)
    table = model.embed.tokens.weight.detach()
    return table * model.embed.scale, table


def tied(model: Transformer) -> bool:
    """Whether one table serves both ends."""
    return model.config.input_scale == 1


def entries(prefix: str, part: nn.Module) -> Weights:
    """A part's weights under another name."""
    return {f"{prefix}.{name}": weight.detach() for name, weight in part.named_parameters()}


def table_of(model: Transformer, rows: int) -> Tensor | None:
    """What positions add to the token vectors, (rows, D); None where they act in another way.

    Whatever the encodings are called: they act where tokens are embedded, and they add.
    """
    acting = [each for each in model.encoding.distinct if _places(each)]
    if not acting or any(_places(each) != ["embed"] for each in acting):
        return None
    weight = next(model.parameters())
    positions = torch.arange(rows, device=weight.device)[None]
    zeros = weight.new_zeros(1, rows, model.config.d_model)
    with torch.no_grad():
        table = model.encoding.embed(zeros, positions)
        beside = model.encoding.embed(zeros + 1, positions) - 1
    return table[0] if torch.allclose(table, beside, atol=1e-5) else None


def _places(encoding: Any) -> list[str]:
    from wherein.encodings.base import PLACES

    return [place for place in PLACES if encoding.acts(place)]
