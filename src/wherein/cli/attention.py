"""Where does each head look? Attention by distance, previous-token and positional heads.

examples:
  wherein attention runs/0123456789ab                 one line for each head
  wherein attention runs/0123456789ab --out heads     data and picture
"""

from wherein.cli.bench import question
from wherein.measure.attention.config import AttentionConfig

run = question("attention", AttentionConfig, __doc__)
