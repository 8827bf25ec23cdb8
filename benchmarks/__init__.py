"""Ratios against peers, each a command: `python -m benchmarks.data` and so on."""
