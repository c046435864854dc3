"""Analyses of a model other than checking: transition locality, and random walks."""
