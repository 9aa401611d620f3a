"""A judge for any guideline, learned from people's judgments: sentence vectors and regularised regression."""
