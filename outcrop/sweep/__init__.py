"""Many checks instead of one: over ranges of constants, and for the tables of the papers."""
