"""Lapsus finds, labels and measures the errors of systems that talk."""

__version__ = "0.1.0"
