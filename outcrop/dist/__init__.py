"""Searches over several processes, on one machine or many. Strategies use them through exchange.py alone."""
