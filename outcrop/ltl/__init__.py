"""Linear temporal logic: formulas, files of formulas, and translation to Büchi automata."""
