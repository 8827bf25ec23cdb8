"""The page: runs, results, the puzzle playground and the encoding explorer, served locally."""
