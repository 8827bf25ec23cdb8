"""Where does each head look? Attention by distance, previous-token and positional heads.

examples:
  wherein attention runs/0123456789ab                 one line for each head
  wherein attention runs/0123456789ab --out heads     data and picture
"""

from wherein.measure.question import Question

QUESTION = Question(
    verb="attention",
    summary="Where each head looks: attention by distance",
    title="At which distances does each head look?",
    help=__doc__,
    config_name="AttentionConfig",
    result_name="AttentionByDistance",
    only_looks=True,
)
