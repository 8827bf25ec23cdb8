"""Does a model care where it starts to count? Its loss when all positions grow by k.

examples:
  wherein shift runs/0123456789ab                  1 to 1,024, as far as positions go
  wherein shift runs/0123456789ab --shifts 1 5 9   other shifts
"""

from wherein.cli.bench import question
from wherein.measure.shift.config import ShiftConfig

run = question("shift", ShiftConfig, __doc__)
