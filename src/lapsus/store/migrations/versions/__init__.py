"""One file a version of the tables, each with the step from the version before."""
