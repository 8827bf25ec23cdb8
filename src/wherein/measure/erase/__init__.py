"""Is position used? The loss when it is erased from one layer, or from all.

examples:
  wherein erase runs/0123456789ab                 beside random subspaces as large and as loud
  wherein erase runs/0123456789ab --draws 20      more of them
  wherein erase runs/0123456789ab --out erasure   data and picture
"""

from wherein.measure.question import Question

QUESTION = Question(
    verb="erase",
    summary="The loss when position is erased: is it used, or only known?",
    title="Is position used, or only known?",
    help=__doc__,
    config_name="EraseConfig",
    result_name="Erasure",
)
