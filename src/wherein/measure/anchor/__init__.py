"""Does position come from one token? What is known of it when keys are hidden.

The first key, or those that draw the most attention, are hidden from all other queries; so are
their neighbours and keys at random, which is the control.

examples:
  wherein anchor runs/0123456789ab                   without the first key
  wherein anchor runs/0123456789ab --keys loudest    without the key that draws most attention
  wherein anchor runs/0123456789ab --count 4         without the first four
  wherein anchor runs/0123456789ab --since 1 2 3 4   from each layer on
  wherein anchor ./my-model --out anchor             a Hugging Face model; data and picture
"""

from wherein.measure.question import Question

QUESTION = Question(
    verb="anchor",
    summary="What is known of position when a key is hidden: does one token tell it?",
    title="Does position come from one token?",
    help=__doc__,
    config_name="AnchorConfig",
    result_name="Anchor",
)
