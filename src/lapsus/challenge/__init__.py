"""Challenges: a test set without its labels goes out, runs come in, and a leaderboard says how they did.

Everything but `service` works without a database.
"""
