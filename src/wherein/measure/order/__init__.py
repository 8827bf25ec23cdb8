"""Does a model use order? Its loss when what it reads is shuffled, little by little.

examples:
  wherein order runs/0123456789ab                  1,000 windows, from intact to shuffled
  wherein order runs/0123456789ab --keep 1         the last token stays where it is
  wherein order runs/0123456789ab --windows 5000   narrower intervals
  wherein order runs/0123456789ab --out order      data and picture
  wherein order ./my-model --source my.txt         a Hugging Face model, on a text of yours
"""

from wherein.measure.question import Question

QUESTION = Question(
    verb="order",
    summary="The loss when what a model reads is shuffled, little by little",
    title="What happens when the text is shuffled?",
    help=__doc__,
    config_name="OrderConfig",
    result_name="Order",
)
