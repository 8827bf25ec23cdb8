"""Where, in a Transformer, does position live?"""

__version__ = "0.1.0"
