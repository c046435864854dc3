"""Partial-order reduction: what the rule instances of a System read and write, and which of them a state must fire."""
