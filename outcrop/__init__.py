"""Outcrop: an explicit-state model checker that does not stop where RAM stops."""

__version__ = "0.1.0"
