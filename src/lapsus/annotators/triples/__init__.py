"""The judge of texts made from data: a small transformer labels words and elements, a few rules make marks of it."""
