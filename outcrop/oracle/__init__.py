"""Searches by the interpreter: slow, simple, and the oracle for all other searches."""
