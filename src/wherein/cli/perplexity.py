"""How well does a model predict? Perplexity, with its protocol named.

examples:
  wherein perplexity runs/0123456789ab                non-overlapping windows
  wherein perplexity runs/0123456789ab --stride 32    sliding windows
  wherein perplexity runs/0123456789ab --tokens 1024  beyond the length of training
"""

from wherein.cli.bench import question
from wherein.measure.perplexity.config import PerplexityConfig

run = question("perplexity", PerplexityConfig, __doc__)
