"""The parts that strategies share: the Explorer, visited sets, frontiers, snapshots, limits, findings and events."""
