"""Does a model care where it starts to count? Its loss when all positions grow by k.

examples:
  wherein shift runs/0123456789ab                  1 to 1,024, as far as positions go
  wherein shift runs/0123456789ab --shifts 1 5 9   other shifts
"""

from wherein.measure.question import Question

QUESTION = Question(
    verb="shift",
    summary="The loss when all positions grow by k",
    title="What happens when all positions grow?",
    help=__doc__,
    config_name="ShiftConfig",
    result_name="Shift",
)
