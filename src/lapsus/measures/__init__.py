"""Numbers out of votes: scores, agreement, gold. Pure numpy; knows no file, no database and no page."""
