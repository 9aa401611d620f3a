"""Mutation testing for judges: errors planted in good turns, and what share of them a judge finds."""
