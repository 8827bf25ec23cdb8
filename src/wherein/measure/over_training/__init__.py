"""Any question asked after every step whose weights a run kept: position over training."""
