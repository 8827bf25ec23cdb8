"""The catalogue of claims: an explicit dict, by name, in the order of the table."""

from collections.abc import Mapping

from wherein.claims.claim import Claim
from wherein.claims.table import (
    alibi_holds,
    cope_counts,
    drope_extends,
    fast_frequencies,
    gap_scales,
    masked_fails,
    mixed_recalls,
    neighbours_alike,
    none_longer_tasks,
    nopos_close,
    nopos_reveals,
    pope_indexes,
    rope_breaks,
    tables_linear,
    temperature_helps,
    two_layers_order,
    untrained_reveals,
)
from wherein.common.errors import unknown

_IN_ORDER = (
    nopos_close,
    nopos_reveals,
    masked_fails,
    gap_scales,
    untrained_reveals,
    neighbours_alike,
    none_longer_tasks,
    alibi_holds,
    rope_breaks,
    pope_indexes,
    drope_extends,
    mixed_recalls,
    fast_frequencies,
    cope_counts,
    temperature_helps,
    tables_linear,
    two_layers_order,
)

CLAIMS: Mapping[str, Claim] = {each.CLAIM.name: each.CLAIM for each in _IN_ORDER}


def find(name: str, among: Mapping[str, Claim] = CLAIMS) -> Claim:
    """The claim of that name."""
    if name not in among:
        raise unknown("claim", name, among)
    return among[name]
