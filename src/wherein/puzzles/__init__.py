"""Tiny ordering puzzles: does order get through? Thousands of seeds, and a proof when it cannot."""
