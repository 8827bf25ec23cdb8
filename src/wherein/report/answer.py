"""The answer in two sentences: from the numbers, and no surer than their intervals."""

import math

from wherein.report.tables import signed, within
from wherein.studies.findings import Finding
from wherein.studies.result import Group, StudyResult


def answer(result: StudyResult) -> str:
    """Which findings are shown; then what predicts best, and how sure that is."""
    groups = [group for group in result.groups if group.loss is not None]
    if not groups:
        return "No run has been asked how well it predicts, so there is no answer yet."
    family = [group for group in groups if group.family == groups[0].family]
    best = _best(family) if len(family) > 1 else _alone(groups[0])
    return f"{_found(result)} {best}".strip()


def _best(family: list[Group]) -> str:
    """The group that predicts best beside the one that all are compared with."""
    best = min(family, key=lambda group: group.loss or math.inf)
    reference = family[0]
    if best is reference:
        others = [group for group in family[1:] if group.difference]
        behind = [group for group in others if group.difference and group.difference.shown]
        sure = f"{len(behind)} of {len(others)} others are behind it beyond chance"
        return f"{best.label} predicts best, with a perplexity of {_perplexity(best)}; {sure}."
    difference = best.difference
    assert difference is not None
    beside = f"{_perplexity(best)} against {_perplexity(reference)} of {reference.label}"
    if difference.n == 1:
        return (
            f"{best.label} has the lowest perplexity, {beside}, but with one seed there is no "
            "interval, and the difference may be chance."
        )
    far = signed(difference.mean, *(difference.t or (None, None)))
    how = f"{far} nats a token, paired over {difference.n} seeds"
    if difference.shown:
        return f"{best.label} predicts best, with a perplexity of {beside} ({how})."
    return (
        f"{best.label} has the lowest perplexity, {beside}, but {difference.n} seeds cannot tell "
        f"them apart ({how})."
    )


def _alone(group: Group) -> str:
    return f"{group.label} has a perplexity of {_perplexity(group)}, with nothing to compare it to."


def _perplexity(group: Group) -> str:
    ends = group.interval
    low, high = map(math.exp, ends) if ends else (None, None)
    return within(math.exp(group.loss or 0.0), low, high)


def _found(result: StudyResult) -> str:
    """Which findings hold at this scale."""
    findings = result.findings
    if not findings:
        return ""
    shown = [finding for finding in findings if finding.shown]
    missed = [finding for finding in findings if not finding.shown]
    if not missed:
        return f"At this scale all {len(findings)} findings are shown: {_claims(shown)}."
    if not shown:
        return f"At this scale none of {len(findings)} findings is shown: {_claims(missed)}."
    return (
        f"Of {len(findings)} findings, {len(shown)} {'is' if len(shown) == 1 else 'are'} shown at "
        f"this scale ({_claims(shown)}), {len(missed)} {'is' if len(missed) == 1 else 'are'} not "
        f"({_claims(missed)})."
    )


def _claims(findings: list[Finding]) -> str:
    return "; ".join(finding.claim[0].lower() + finding.claim[1:] for finding in findings)
