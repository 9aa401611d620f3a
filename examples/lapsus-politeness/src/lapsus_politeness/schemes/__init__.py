"""Holds the scheme files."""
