"""Test suites: a small set of runs of a model that covers its rules, instances, values or edges."""
