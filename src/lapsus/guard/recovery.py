"""Ways to recover, by error type: data of `recovery.yaml`, or of a file of one's own in the same shape."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from lapsus.errors import InputError, reason_of
from lapsus.guard.records import Suggestion
from lapsus.model import Text, in_language
from lapsus.registry import did_you_mean
from lapsus.schemes import load_scheme
from lapsus.schemes.marked_yaml import parse_yaml
from lapsus.text_files import read_text

MOST: Final = 3
TYPES: Final = "error-types"
_OURS: Final = Path(__file__).with_name("recovery.yaml")


class Way(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What can be done about some error types, in words by language."""

    id: str
    types: tuple[str, ...]
    title: Text
    says: Text


def read_ways(path: Path | str | None = None) -> tuple[Way, ...]:
    """The ways in a file, ours by default; complains of what is no such file, and of types that nobody knows."""
    place = _OURS if path is None else Path(path)
    try:
        ways = msgspec.convert(parse_yaml(read_text(place), place.name).data, tuple[Way, ...])
    except OSError as error:
        raise InputError(reason_of(error), where=str(place)) from None
    except (UnicodeDecodeError, msgspec.ValidationError) as error:
        raise InputError("recovery-unsound", where=str(place), reason=str(error)) from None
    scheme = load_scheme(TYPES)
    known = [label.id for label in scheme.labels_of(scheme.questions[0])]
    for type in (type for way in ways for type in way.types):
        if type not in known:
            hint = did_you_mean(type, known)
            raise InputError("recovery-no-such-type", where=str(place), type=type, hint=hint)
    return ways


def suggestions(types: Iterable[str], language: str, ways: Sequence[Way]) -> tuple[Suggestion, ...]:
    """What helps against these error types, the likeliest first; at most three."""
    found: dict[str, Suggestion] = {}
    for type in dict.fromkeys(types):
        for way in ways:
            if type in way.types and way.id not in found:
                title, says = (str(in_language(words, language)) for words in (way.title, way.says))
                found[way.id] = Suggestion(way.id, title, says)
    return tuple(found.values())[:MOST]
