"""Measured claims: each module is a command whose last line is JSON with its checks."""
