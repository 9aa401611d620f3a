"""What Lapsus knows of languages: which one a text is in, and where its words begin and end."""

from lapsus.language.script import has_letters as has_letters
from lapsus.language.script import language_by_script as language_by_script
from lapsus.language.script import language_of_turns as language_of_turns
from lapsus.language.script import plain_language as plain_language
from lapsus.language.tokenizer import Token as Token
from lapsus.language.tokenizer import cuts_token as cuts_token
from lapsus.language.tokenizer import snap as snap
from lapsus.language.tokenizer import tokens as tokens
from lapsus.language.tokenizer import word_count as word_count
