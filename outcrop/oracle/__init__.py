"""Searches by the interpreter: slow, obviously right, and what all other searches are tested against."""
