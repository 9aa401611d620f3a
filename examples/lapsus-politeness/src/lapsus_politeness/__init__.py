"""How polite the turns of a system are: an example of a package that adds to Lapsus."""
