"""Searching on a GPU: the same emitted model, compiled for it, and a breadth-first search in its memory."""
