"""The challenge's JSON as records, and the key `lapsus` for what the format has no place for.

Other programs pass over that key. Keys that we do not know become metadata; none is dropped.
"""

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Annotated, Any, TypeVar

import msgspec

from lapsus.errors import InputError
from lapsus.formats.source import Member
from lapsus.model import Judgment
from lapsus.model.frozen import decoder
from lapsus.schemes import load_scheme

T = TypeVar("T", bound=msgspec.Struct)

LARGEST = 8 << 20
"""Bytes of one dialogue's file. A hundred annotators of five hundred turns need less."""
_Many = msgspec.Meta(max_length=10_000)
"""More labels than that of one turn are no honest file."""


class DialogueExtra(msgspec.Struct, omit_defaults=True):
    """What Lapsus knows of a dialogue beyond the format."""

    format: int | None = None
    """Set in files that Lapsus wrote: then nothing needs to be told from folder names."""
    language: str | None = None
    metadata: dict[str, Any] = {}


class TurnExtra(msgspec.Struct, omit_defaults=True):
    """What Lapsus knows of a turn beyond the format."""

    id: str | None = None
    metadata: dict[str, Any] = {}


class AnnotationExtra(msgspec.Struct, omit_defaults=True):
    """What Lapsus knows of a judgment beyond the format."""

    version: str | None = None
    revision: int = 1
    at: datetime | None = None
    seconds: float | None = None
    distributions: dict[str, dict[str, float]] = {}
    comment: str | None = None
    metadata: dict[str, Any] = {}


class Annotation(msgspec.Struct, rename="kebab", forbid_unknown_fields=True):
    """One annotator's label."""

    breakdown: str
    annotator_id: str | None = ""
    comment: str | None = ""
    ungrammatical_sentence: str | None = ""
    lapsus: AnnotationExtra | msgspec.UnsetType = msgspec.UNSET


class Turn(msgspec.Struct, rename="kebab", forbid_unknown_fields=True):
    """One utterance."""

    turn_index: int
    speaker: str
    utterance: str
    annotations: Annotated[list[Annotation], _Many] = []
    time: str | None = None
    annotation_id: str | None | msgspec.UnsetType = msgspec.UNSET
    lapsus: TurnExtra | msgspec.UnsetType = msgspec.UNSET


class Dialogue(msgspec.Struct, rename="kebab", forbid_unknown_fields=True):
    """One `.log.json` file."""

    turns: list[Turn]
    dialogue_id: str | None = ""
    speaker_id: str | None = ""
    group_id: str | None = ""
    lapsus: DialogueExtra | msgspec.UnsetType = msgspec.UNSET


class RunLabel(
    msgspec.Struct,
    omit_defaults=True,
    forbid_unknown_fields=True,
    rename={"o": "prob-O", "t": "prob-T", "x": "prob-X", "annotator_id": "annotator-id"},
):
    """A detector's answer about one turn."""

    breakdown: str
    o: float | None = None
    t: float | None = None
    x: float | None = None
    annotator_id: str | None | msgspec.UnsetType = msgspec.UNSET
    lapsus: AnnotationExtra | msgspec.UnsetType = msgspec.UNSET


class RunTurn(msgspec.Struct, rename="kebab", forbid_unknown_fields=True):
    """The answers about one turn."""

    turn_index: int
    labels: Annotated[list[RunLabel], _Many]
    lapsus: TurnExtra | msgspec.UnsetType = msgspec.UNSET


class RunDialogue(msgspec.Struct, rename="kebab", forbid_unknown_fields=True):
    """One `.labels.json` file."""

    turns: list[RunTurn]
    dialogue_id: str | None = ""
    lapsus: DialogueExtra | msgspec.UnsetType = msgspec.UNSET


def extra_of(
    judgment: Judgment,
    distributions: Mapping[str, Mapping[str, float]],
    comment: str | None,
    metadata: Mapping[str, Any],
) -> AnnotationExtra | msgspec.UnsetType:
    """What the format has no place for of a judgment; nothing where it has a place for all."""
    current = load_scheme(judgment.scheme).version
    extra = AnnotationExtra(
        version=None if judgment.version == current else judgment.version,
        revision=judgment.revision,
        at=judgment.at,
        seconds=judgment.seconds,
        distributions={key: dict(shares) for key, shares in distributions.items()},
        comment=comment,
        metadata=dict(metadata),
    )
    return extra if extra != AnnotationExtra() else msgspec.UNSET


def turn_index(segment: str) -> int | None:
    """The index that a segment's id spells, or None where it is a name of another kind."""
    is_index = segment.isascii() and segment.isdigit() and len(segment) < 10 and str(int(segment)) == segment
    return int(segment) if is_index else None


def decode(kind: type[T], member: Member) -> T:
    """The record in a file. Strict first, for speed; files with keys of their own go the slow way."""
    content = member.head(LARGEST + 1)
    if len(content) > LARGEST:
        raise InputError("larger-mib", where=member.name, hint="one-dialogue-file", largest=LARGEST >> 20)
    try:
        return decoder(kind).decode(content)
    except msgspec.ValidationError as error:
        if "unknown field" not in str(error):
            raise _misshapen(error, member) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError("not-sound-json", where=member.name, error=error) from error
    try:
        raw = msgspec.json.decode(content)
        _set_aside(raw, kind)
        return msgspec.convert(raw, kind)
    except UnicodeDecodeError as error:
        raise InputError("not-sound-json", where=member.name, error=error) from error
    except (msgspec.DecodeError, AttributeError, TypeError) as error:
        raise _misshapen(error, member) from error


def _misshapen(error: Exception, member: Member) -> InputError:
    return InputError("not-challenge", where=member.name, error=error)


def _set_aside(raw: Any, kind: type[msgspec.Struct]) -> None:
    """Move the keys that a record does not know, and those of the records in it, to its metadata."""
    known = _names(kind)
    if extra := {key: raw.pop(key) for key in list(raw) if key not in known}:
        raw.setdefault("lapsus", {}).setdefault("metadata", {}).update(extra)
    for key, inner in _PARTS.get(kind, {}).items():
        for part in raw.get(key) or ():
            _set_aside(part, inner)


@cache
def _names(kind: type[msgspec.Struct]) -> frozenset[str]:
    return frozenset(field.encode_name for field in msgspec.structs.fields(kind))


_PARTS: dict[type[msgspec.Struct], dict[str, type[msgspec.Struct]]] = {
    Dialogue: {"turns": Turn},
    Turn: {"annotations": Annotation},
    RunDialogue: {"turns": RunTurn},
    RunTurn: {"labels": RunLabel},
}
"""The lists of records inside a record."""
