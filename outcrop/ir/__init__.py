"""The System: the typed form of a model that front-ends produce and everything else reads."""
