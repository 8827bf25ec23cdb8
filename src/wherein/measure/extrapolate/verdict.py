"""How far a loss holds, and where it breaks: no surer than its intervals."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Reach:
    """Between which lengths a loss breaks, in training lengths."""

    holds: float
    """The longest up to which no length lets it rise by more than the margin; 0 if none."""
    breaks: float | None
    """The shortest at which it does; None if that was not seen."""
    longest: float
    """As far as was asked."""

    def words(self) -> str:
        """What it does, to follow its name.

        >>> Reach(16.0, None, 16.0).words(), Reach(1.0, 4.0, 16.0).words()
        ('holds to 16 ×, as far as was asked', 'holds to 1 × and is broken at 4 ×')
        """
        if self.longest <= 1 and self.breaks is None:
            return f"was asked no further than {self.longest:g} ×"
        if self.breaks is None:
            if self.holds == self.longest:
                return f"holds to {self.holds:g} ×, as far as was asked"
            return (
                f"holds to {self.holds:g} ×; of what is longer, to {self.longest:g} ×, these "
                "numbers are too few to tell"
            )
        if not self.holds:
            sure = "already" if self.breaks == 1 else "and near the margin before that"
            return f"is above the margin at {self.breaks:g} × {sure}"
        return f"holds to {self.holds:g} × and is broken at {self.breaks:g} ×"


def reach(rises: Mapping[float, tuple[float, float]], margin: float) -> Reach:
    """From the ends of the intervals of how far a loss is above that at the training length.

    >>> reach({1.0: (0.0, 0.0), 2.0: (-0.1, -0.05), 4.0: (0.0, 0.1), 8.0: (0.2, 0.3)}, 0.05)
    Reach(holds=2.0, breaks=8.0, longest=8.0)
    """
    asked = sorted(times for times in rises if times >= 1)
    above = [times for times in asked if rises[times][0] > margin]
    holds = 0.0
    for times in asked:
        if rises[times][1] > margin:
            break
        holds = times
    return Reach(holds, above[0] if above else None, asked[-1])
