"""Linear temporal logic: formulas, their files, and the Büchi automata that they become."""
