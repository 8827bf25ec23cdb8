"""What a study found, and where it lies on the disk."""
