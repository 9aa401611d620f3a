"""The regular expressions of `patterns.yaml`, compiled."""

from functools import cache
from typing import Any

import regex

from lapsus.word_files import word_file

_FILE = "patterns.yaml"


@cache
def pattern(name: str) -> regex.Pattern[str]:
    """A pattern by its name, such as `refuses` or `wants.code`."""
    found: Any = word_file("lapsus.annotators.features.reply_signs", _FILE)
    for part in name.split("."):
        found = found[part]
    # A pattern is written over several lines, each of which goes on with `|`.
    flags = regex.M if name.endswith("-exact") else regex.M | regex.I
    return regex.compile("".join(found.splitlines()), flags)


@cache
def function_words() -> dict[str, frozenset[str]]:
    """For each language that is written in Latin letters its most frequent small words."""
    found = word_file("lapsus.annotators.features.reply_signs", _FILE)["function-words"]
    return {name: frozenset(words.split()) for name, words in found.items()}
