"""Where a mark on words ends: signs at its edges are no part of what is marked."""

from __future__ import annotations

import regex

_SIGNS = regex.compile(r"^[^\p{L}\p{M}\p{N}\p{S}]+|[^\p{L}\p{M}\p{N}\p{S}]+$")


def without_edges(first: str, last: str) -> tuple[int, int]:
    """How many signs to leave out before the first word and after the last; none where a word is nothing but signs."""
    bare = _SIGNS.sub("", first), _SIGNS.sub("", last)
    if not all(bare):
        return 0, 0
    return first.index(bare[0]), len(last) - last.rindex(bare[1]) - len(bare[1])
