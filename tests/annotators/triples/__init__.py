"""The judge of texts made from data."""
