"""Stepping through a model by hand, and drawing the graph of its states. Both use the interpreter, state by state."""
