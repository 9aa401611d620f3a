"""Ways to recover, by error type: data of `recovery.yaml`."""

from collections.abc import Iterable
from typing import Final

from lapsus.guard.records import Suggestion
from lapsus.model import in_language
from lapsus.word_files import word_file

MOST: Final = 3


def suggestions(types: Iterable[str], language: str) -> tuple[Suggestion, ...]:
    """What helps against these error types, the likeliest first; at most three."""
    known = word_file("lapsus.guard", "recovery.yaml")
    found: dict[str, Suggestion] = {}
    for type in dict.fromkeys(types):
        for one in known:
            if type in one["types"] and one["id"] not in found:
                found[one["id"]] = Suggestion(
                    one["id"],
                    str(in_language(one["title"], language)),
                    str(in_language(one["says"], language)),
                )
    return tuple(found.values())[:MOST]
