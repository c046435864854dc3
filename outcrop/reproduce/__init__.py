"""The tables of the papers that Outcrop implements: their figures, and ours."""
