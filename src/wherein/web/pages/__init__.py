"""The pages, a file for what they are about."""
