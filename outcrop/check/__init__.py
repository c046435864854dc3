"""What `check` does around searches: chooses one, runs one for each formula, and concludes a Result."""
