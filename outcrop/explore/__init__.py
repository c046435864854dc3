"""Exploration with the interpreter: stepping through a model by hand, and drawing its state graph."""
