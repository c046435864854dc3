"""Validation of recorded runs: whether each log is a run of the model."""
