"""What Lapsus knows of languages: which one a text is in, and where its words begin and end."""

from lapsus.language.script import language_by_script
from lapsus.language.words import Token, cuts_token, snap, tokens, word_count

__all__ = ["Token", "cuts_token", "language_by_script", "snap", "tokens", "word_count"]
