"""What Lapsus knows of languages: which one a text is in, and where its words begin and end."""

from lapsus.language.script import has_letters, language_by_script, language_of_turns, plain_language
from lapsus.language.tokenizer import Token, cuts_token, snap, tokens, word_count

__all__ = [
    "Token",
    "cuts_token",
    "has_letters",
    "language_by_script",
    "language_of_turns",
    "plain_language",
    "snap",
    "tokens",
    "word_count",
]
