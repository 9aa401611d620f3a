"""Talk that is written down as text: `User: …`, `Bot: …`, one turn after the other."""

import re
from collections.abc import Mapping
from typing import Any

from lapsus.formats.speakers import ROLES
from lapsus.model import Role

_TIME = r"\[[^\]\n]{1,40}\][ \t]*|\d[\d.:,/TZ+ -]{3,30}(?:[AaPp][Mm][ -]+)?(?<=[ -])"
"""What messengers write before a name: `[10:01]`, `2026-01-31 10:01`, `1/31/26, 10:01 AM -`."""
_TURN = re.compile(
    rf"^[ \t]*(?:{_TIME})?[*_#]{{0,3}}([^\W\d_][\w -]{{0,24}}?)[*_]{{0,2}}[ \t]*[:：][*_]{{0,2}}[ \t]*",
    re.MULTILINE,
)
_RULE = re.compile(r"^[ \t]*(?:-{3,}|={3,}|\*{3,})[ \t]*$", re.MULTILINE)
LOOKED_AT = 20_000
"""How many characters are looked at to recognise such a text."""


def has_speakers(value: Any, names: Mapping[str, Role] = ROLES) -> bool:
    """Whether a text begins with a turn, and both sides speak in it."""
    if not isinstance(value, str):
        return False
    found = [(match, role) for match in _TURN.finditer(value[:LOOKED_AT]) if (role := _role(match, names))]
    return {"user", "system"} <= {role for _, role in found} and not value[: found[0][0].start()].strip()


def messages_of_text(text: str, names: Mapping[str, Role] = ROLES) -> list[dict[str, Any]]:
    """The turns of a text as messages. Lines that name nobody go on with the turn before them.

    A reply `None` is what some programs print for one that only calls a tool: it is left out.
    """
    starts = [match for match in _TURN.finditer(text) if _role(match, names)]
    ends = [match.start() for match in starts[1:]] + [len(text)]
    messages = [
        {"role": match[1].strip(), "content": text[match.end() : end].strip()}
        for match, end in zip(starts, ends, strict=True)
    ]
    return [one for one in messages if one["content"] != "None"]


def names_in(text: str) -> list[str]:
    """Who seems to speak in a text, in the order of their turns: names before colons that come more than once."""
    found = [match[1].strip() for match in _TURN.finditer(text[:LOOKED_AT])]
    return [name for name in found if found.count(name) > 1]


def dialogues_of_text(text: str) -> list[str]:
    """The talks of a file, which lines of `---` or `===` part."""
    return [part for part in _RULE.split(text) if part.strip()]


def _role(match: re.Match[str], names: Mapping[str, Role]) -> Role | None:
    return names.get(match[1].strip().lower())
