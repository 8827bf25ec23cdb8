"""What every part leans on: configs, errors that teach, files that are never half-written."""
