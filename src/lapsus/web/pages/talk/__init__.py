"""Where people talk to systems, and how collecting goes."""
