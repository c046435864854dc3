"""Searches over several processes, on one machine or many. A strategy does not know of it: see exchange.py."""
