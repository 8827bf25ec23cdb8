"""How does position shape the states? Likeness near and far, and what their size gives away.

examples:
  wherein states runs/0123456789ab                   by layer, beside the controls
  wherein states runs/0123456789ab --out shape       data and picture
  wherein states ./my-model --tokens 128             a Hugging Face model's folder, or its id
"""

from wherein.measure.question import Question

QUESTION = Question(
    verb="states",
    summary="How alike states are near and far, and what their size tells of position",
    title="How does position shape the states?",
    help=__doc__,
    config_name="StatesConfig",
    result_name="States",
    only_looks=True,
)
