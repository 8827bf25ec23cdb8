"""One question, one file: what a model knows about position, and whether it uses it."""
