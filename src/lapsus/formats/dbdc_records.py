"""The challenge's JSON as records, and the key `lapsus` for what the format has no place for.

Other programs pass over that key. Keys of other programs that we do not know become metadata; none is dropped.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, TypeVar

import msgspec

from lapsus.errors import InputError
from lapsus.formats.source import Member

T = TypeVar("T", bound=msgspec.Struct)


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
    annotator_id: str = ""
    comment: str | None = ""
    ungrammatical_sentence: str | None = ""
    lapsus: AnnotationExtra | msgspec.UnsetType = msgspec.UNSET


class Turn(msgspec.Struct, rename="kebab", forbid_unknown_fields=True):
    """One utterance."""

    turn_index: int
    speaker: str
    utterance: str
    annotations: list[Annotation] = []
    time: str | None = None
    annotation_id: str | None | msgspec.UnsetType = msgspec.UNSET
    lapsus: TurnExtra | msgspec.UnsetType = msgspec.UNSET


class Dialogue(msgspec.Struct, rename="kebab", forbid_unknown_fields=True):
    """One `.log.json` file."""

    turns: list[Turn]
    dialogue_id: str = ""
    speaker_id: str | None = ""
    group_id: str | None = ""
    lapsus: DialogueExtra | msgspec.UnsetType = msgspec.UNSET


class RunLabel(
    msgspec.Struct,
    omit_defaults=True,
    rename={"o": "prob-O", "t": "prob-T", "x": "prob-X", "annotator_id": "annotator-id"},
):
    """A detector's answer about one turn."""

    breakdown: str
    o: float | None = None
    t: float | None = None
    x: float | None = None
    annotator_id: str | msgspec.UnsetType = msgspec.UNSET
    lapsus: AnnotationExtra | msgspec.UnsetType = msgspec.UNSET


class RunTurn(msgspec.Struct, rename="kebab"):
    """The answers about one turn."""

    turn_index: int
    labels: list[RunLabel]
    lapsus: TurnExtra | msgspec.UnsetType = msgspec.UNSET


class RunDialogue(msgspec.Struct, rename="kebab"):
    """One `.labels.json` file."""

    turns: list[RunTurn]
    dialogue_id: str = ""


def decode(decoder: msgspec.json.Decoder[T], member: Member) -> T:
    """The record in a file. Strict first, for speed; files with keys of their own go the slow way."""
    content = member.read()
    try:
        return decoder.decode(content)
    except msgspec.ValidationError as error:
        if "unknown field" not in str(error):
            raise _misshapen(error, member) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"not sound JSON: {error}", where=member.name) from error
    try:
        return msgspec.convert(_with_extras_set_aside(content), decoder.type)
    except (msgspec.DecodeError, AttributeError, KeyError, TypeError) as error:
        raise _misshapen(error, member) from error


def _misshapen(error: Exception, member: Member) -> InputError:
    return InputError(f"not as the challenge has it: {error}", where=member.name)


def _with_extras_set_aside(content: bytes) -> Any:
    raw = msgspec.json.decode(content)
    _set_aside(raw, Dialogue)
    for turn in raw["turns"]:
        _set_aside(turn, Turn)
        for annotation in turn.get("annotations", ()):
            _set_aside(annotation, Annotation)
    return raw


def _set_aside(raw: dict[str, Any], kind: type[msgspec.Struct]) -> None:
    known = {field.encode_name for field in msgspec.structs.fields(kind)}
    if extra := {key: raw.pop(key) for key in list(raw) if key not in known}:
        raw.setdefault("lapsus", {}).setdefault("metadata", {}).update(extra)
