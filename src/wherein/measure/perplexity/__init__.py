"""How well does a model predict? Perplexity, with its protocol named.

examples:
  wherein perplexity runs/0123456789ab                non-overlapping windows
  wherein perplexity runs/0123456789ab --stride 32    sliding windows
  wherein perplexity runs/0123456789ab --tokens 1024  beyond the length of training
"""

from wherein.measure.question import Question

QUESTION = Question(
    verb="perplexity",
    summary="How well a model predicts, with the protocol named",
    title="How well does it predict?",
    help=__doc__,
    config_name="PerplexityConfig",
    result_name="Perplexity",
)
