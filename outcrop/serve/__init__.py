"""The explorer in the browser: a server for one reader, on this machine alone."""
