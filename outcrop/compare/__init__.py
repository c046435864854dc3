"""Comparison of two models by their state graphs."""
