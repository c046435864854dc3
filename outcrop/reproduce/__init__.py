"""The tables of the papers that Outcrop implements: what they say, and what comes out here."""
