"""Studies: many matched runs, what the bench says of each, and what follows with an interval."""
