"""Which Lapsus this is; every signature carries it."""

__version__ = "0.2.0"
