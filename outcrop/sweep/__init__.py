"""Sweeps: many checks over ranges of constants, also for the tables of the papers."""
