"""What strategies are made of: the context of a run, visited sets, frontiers, snapshots, limits, findings, events."""
