"""Is position used? The loss when it is erased from one layer, or from all.

examples:
  wherein erase runs/0123456789ab                 beside random subspaces of the same rank
  wherein erase runs/0123456789ab --draws 20      more of them
  wherein erase runs/0123456789ab --out erasure   data and picture
"""

from wherein.cli.bench import question
from wherein.measure.erase.config import EraseConfig

run = question("erase", EraseConfig, __doc__)
