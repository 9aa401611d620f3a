"""Systems that people talk to."""
