"""From files to results: what the commands `score`, `compare`, `agree`, `gold` and `validate` do."""
