"""The words of the pages and of refusals, in each language."""

import hashlib
from collections.abc import Mapping
from functools import cache

import msgspec

from lapsus.kinds import messages
from lapsus.model import in_language
from lapsus.web.addresses import at
from lapsus.word_files import word_file, words_in

SPOKEN_BY_SCRIPTS = ("common.", "judge.", "decide.")
"""The words that scripts say; those of the other pages come with their pages, and need not be sent twice."""


def say(key: str, language: str, /, **values: object) -> str:
    """A word of the pages; the key itself where there is none."""
    template = words(language).get(key, key)
    return template.format(**values) if values else template


def refusal(reason: str, language: str) -> str | None:
    """What to tell somebody whose request was refused."""
    known = word_file("lapsus.web", "refusals.yaml").get(reason)
    return None if known is None else in_language(known, language)


def words(language: str) -> Mapping[str, str]:
    """The words of the pages in a language, by key: its file's name, and the keys in it joined by dots."""
    return words_in(language, "lapsus.web", "words")


@cache
def words_json(language: str) -> bytes:
    """Everything that scripts say: their words, and the messages of broken rules with their parts."""
    rules = messages.catalogue()
    catalogue = {
        "language": language,
        "words": {key: word for key, word in words(language).items() if key.startswith(SPOKEN_BY_SCRIPTS)},
        "rules": {name: in_language(text, language) for name, text in rules.items() if "en" in text},
        **{
            group: {name: in_language(text, language) for name, text in rules[group].items()}
            for group in ("kinds", "empty", "roles")
        },
    }
    return msgspec.json.encode(catalogue)


def words_url(language: str) -> str:
    """Where scripts find the words; another address when they change, so that browsers may keep them."""
    return at(f"/words/{language}.json?v={hashlib.sha256(words_json(language)).hexdigest()[:12]}")
