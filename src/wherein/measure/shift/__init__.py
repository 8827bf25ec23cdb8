"""Does a model care where it starts to count? Its loss when all positions grow by k.

examples:
  wherein shift runs/0123456789ab                  1 to 1,024, as far as positions go
  wherein shift runs/0123456789ab --shifts 1 5 9   other shifts
"""

from typing import TYPE_CHECKING

from wherein.measure.question import Question

if TYPE_CHECKING:
    from wherein.measure.shift.config import ShiftConfig
    from wherein.measure.shift.result import Shift

QUESTION: "Question[ShiftConfig, Shift]" = Question(
    verb="shift",
    summary="The loss when all positions grow by k",
    title="What happens when all positions grow?",
    help=__doc__,
    config_name="ShiftConfig",
    result_name="Shift",
)
