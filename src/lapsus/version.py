"""Which Lapsus this is; every signature carries it."""

__version__ = "0.1.0"
