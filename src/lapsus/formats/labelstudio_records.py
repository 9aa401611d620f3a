"""Label Studio's JSON as records, and the key `lapsus` in a task's data for what has no place there.

Label Studio keeps a task's data as it is, so the key survives import, annotation and export.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from lapsus.model import Judgment, Role

VERSION = 1


class Result(msgspec.Struct, omit_defaults=True):
    """One answer, or a line between two regions."""

    type: str
    id: str = ""
    from_name: str = ""
    to_name: str = ""
    value: dict[str, Any] = {}
    from_id: str = ""
    to_id: str = ""
    direction: str = ""


class Person(msgspec.Struct):
    """A user of Label Studio."""

    id: int | str | None = None
    email: str | None = None
    username: str | None = None


class Annotation(msgspec.Struct, omit_defaults=True):
    """What one person said about a task."""

    result: list[Result] = []
    completed_by: int | str | Person | None = None
    created_at: datetime | None = None
    lead_time: float | None = None
    was_cancelled: bool | None = None
    ground_truth: bool | None = None


class Prediction(msgspec.Struct):
    """What a program said about a task."""

    result: list[Result] = []
    model_version: int | float | str | None = None
    score: float | None = None
    created_at: datetime | None = None


class Task(msgspec.Struct):
    """A document with what was said about it."""

    annotations: list[Annotation] = []
    predictions: list[Prediction] = []
    data: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    id: int | str | None = None
    meta: dict[str, Any] | None = None
    completions: Any = None
    """What annotations were called before version 1.0."""


class KnownSegment(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    """What Lapsus knows of a segment; its text stands in `dialogue`."""

    id: str
    role: Role
    parts: tuple[str, str, str] | None = None
    metadata: dict[str, Any] = {}


class Known(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    """What Lapsus knew of a document and of its judgments when it wrote the task."""

    format: int
    id: str
    segments: list[KnownSegment]
    language: str | None = None
    metadata: dict[str, Any] = {}
    judgments: list[Judgment] = []
