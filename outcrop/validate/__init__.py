"""Validation of recorded runs: is each log a run of the model?"""
