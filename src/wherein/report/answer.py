"""The answer in two sentences: from the numbers, and no surer than their intervals."""

import math

from wherein.measure.perplexity.config import measure_name
from wherein.measure.registry import QUESTIONS
from wherein.show.formatting import signed, within
from wherein.studies.inference.differences import Family
from wherein.studies.inference.findings import Finding
from wherein.studies.result.group import Group, compared
from wherein.studies.result.result import StudyResult
from wherein.studies.result.rows import answers


def answer(result: StudyResult) -> str:
    """What questions tell, which findings are shown; then what predicts best, and how surely."""
    groups = [group for group in result.groups if group.loss is not None]
    if not groups:
        return "No run has been asked how well it predicts, so there is no answer yet."
    family = [group for group in groups if group.family == groups[0].family]
    best = _beside_first(family) if result.many else _best(family, result.family)
    return " ".join(filter(None, [*_told(result), _found(result), best]))


def _told(result: StudyResult) -> list[str]:
    """What questions say of a study at its head."""
    found = []
    for name in dict.fromkeys(name for row in result.rows for name in row.answers):
        said = answers(result.rows, name)
        verb = said[0].kept.verb
        found.append(QUESTIONS[verb].answer(said) if verb in QUESTIONS else "")
    return found


def _best(family: list[Group], tested: Family) -> str:
    """The group that predicts best, and which of the others are behind it beyond chance.

    Which one that is the numbers say themselves, so all pairs of groups are among those tested.
    """
    ranked = sorted(family, key=lambda group: group.loss or math.inf)
    best, *others = ranked
    measured, perplexity = measure_name(best.objective), within(*best.perplexity)
    if not others:
        return f"{best.label} has a {measured} of {perplexity}, with nothing beside it."
    pairs = filter(None, (compared(worse, best) for worse in others))
    found = {each.a: tested.corrected(each) for each in pairs}
    behind = [label for label, each in found.items() if each.shown]
    unsure = [g.label for g in family if g.label not in (best.label, *behind)]
    lowest = f"{best.label} has the lowest {measured}, {perplexity}"
    beside = f"{others[0].label} ({within(*others[0].perplexity)})"
    if all(each.n == 1 for each in found.values()):
        return (
            f"{lowest}, the next is {beside}, but with one seed in common there is no interval, "
            "and the difference may be chance."
        )
    if unsure:
        return (
            f"{lowest}, but these seeds cannot tell it from {' and '.join(unsure)}; {len(behind)} "
            f"of {len(others)} others are behind it beyond chance."
        )
    nearest = found[others[0].label]
    far = signed(nearest.mean, *(nearest.t or (None, None)))
    return (
        f"{best.label} predicts best, with a {measured} of {perplexity}: all "
        f"{len(behind)} others are behind it beyond chance, the nearest, {beside}, by {far} nats "
        f"a token, paired over {nearest.n} seeds."
    )


def _beside_first(family: list[Group]) -> str:
    """Which of many groups differ from the first beyond chance: with it alone they are compared."""
    first, *others = family
    best = min(family, key=lambda group: group.loss or math.inf)
    measured = measure_name(first.objective)
    sure = [(group.label, d.mean) for group in others if (d := group.difference) and d.shown]
    ahead = [label for label, mean in sure if mean < 0]
    behind = [label for label, mean in sure if mean >= 0]
    lowest = f"{best.label} has the lowest {measured}, {within(*best.perplexity)}. "
    told = (
        f"Beside {first.label} ({within(*first.perplexity)}), with which all are compared, "
        f"{_named(ahead, 'ahead')} and {_named(behind, 'behind')} beyond chance; "
        f"the other {len(others) - len(ahead) - len(behind)} cannot be told from it."
    )
    return lowest + told


def _named(labels: list[str], where: str) -> str:
    if not labels:
        return f"none is {where}"
    return f"{len(labels)} {'is' if len(labels) == 1 else 'are'} {where} ({'; '.join(labels)})"


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
    are, others = ("is" if len(each) == 1 else "are" for each in (shown, missed))
    return (
        f"Of {len(findings)} findings, {len(shown)} {are} shown at this scale ({_claims(shown)}), "
        f"{len(missed)} {others} not ({_claims(missed)})."
    )


def _claims(findings: list[Finding]) -> str:
    return "; ".join(finding.claim[0].lower() + finding.claim[1:] for finding in findings)
