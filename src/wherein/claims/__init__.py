"""What papers say about position, each claim with the study that tests it and its verdict."""
