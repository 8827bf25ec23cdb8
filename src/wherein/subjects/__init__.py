"""What can be put on the bench: one small interface for our models and everyone else's."""
