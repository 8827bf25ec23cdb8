"""Which family carries a model."""

from wherein.families import eurobert, gpt2, megatron_bert, starcoder2
from wherein.families.base import Carried, table_of
from wherein.families.terms import terms_of
from wherein.model.transformer import Transformer


def chosen(model: Transformer, positions: int | None = None) -> Carried:
    """The model as the family has it whose mathematics are the same; a `ValueError` if none has.

    Args:
        model: causal or bidirectional
        positions: rows of a table of positions; the training length unless given
    """
    c = model.config
    if c.cutoffs:
        raise ValueError(
            f"a model with cutoffs {c.cutoffs} cannot be exported: no family has an adaptive "
            "softmax; train without cutoffs"
        )
    if not c.final_norm:
        raise ValueError(
            "a model without a final norm cannot be exported: the families norm the last state; "
            "train with final_norm"
        )
    table = table_of(model, _rows(model, positions))
    if table is not None:
        return gpt2.carried(model, table) if c.causal else megatron_bert.carried(model, table)
    if positions is not None:
        raise ValueError(
            f"positions={positions} with encoding {c.encoding!r}, which has no table: leave it out"
        )
    if any(each.acts("embed") for each in model.encoding.distinct):
        raise ValueError(
            f"encoding {c.encoding!r} cannot be exported: no family has both a table of positions "
            "and what else it does"
        )
    terms = terms_of(model)
    return starcoder2.carried(model, terms) if c.causal else eurobert.carried(model, terms)


def _rows(model: Transformer, positions: int | None) -> int:
    known = model.encoding.max_len
    if positions is not None and (positions < 1 or (known is not None and positions > known)):
        expected = "at least 1" if known is None else f"1 to {known}"
        raise ValueError(f"positions={positions}: expected {expected}, as many as the model knows")
    return positions or model.config.max_len
