"""The System: the one thing that front-ends produce and everything else consumes."""
