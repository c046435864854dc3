"""Files of a search: a private work directory, block files, queues, sorted runs, layers and checkpoints."""
