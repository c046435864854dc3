"""What can be found out about a model beside checking it: transition locality, and random walks."""
