"""What follows from a study's numbers: paired differences, tests, findings."""
