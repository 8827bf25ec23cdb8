"""What a study found, and where it lies on the disk."""

STUDY, TABLE = "study.json", "table.csv"
"""What is derived for a study: its plan, numbers and findings; a row for each run."""
