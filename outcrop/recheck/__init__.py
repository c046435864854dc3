"""Further invariants over the states of a finished search."""
