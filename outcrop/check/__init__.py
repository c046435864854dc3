"""The steps of a check around its searches: it chooses strategies, checks each formula, and concludes a Result."""
