"""The methods of the breakdown challenge's paper, and the pieces that only they use. Breakdown only."""
