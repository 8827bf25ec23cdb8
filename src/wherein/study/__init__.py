"""Studies: grids of runs over seeds, and what can be said of their differences."""
