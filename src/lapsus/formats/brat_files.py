"""The files of a brat project: which belong together, and the side file that Lapsus puts beside them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from lapsus.errors import InputError
from lapsus.formats.brat_layout import PlacedDocument
from lapsus.formats.source import Member, Source
from lapsus.model import Judgment
from lapsus.model.decoders import decoder

TEXT = ".txt"
MARKS = ".ann"
SIDE = ".lapsus.json"
CONFIG = "annotation.conf"
UNANNOTATED = "unannotated"
"""The folder of documents that nobody has judged."""
VERSION = 1


class SideFile(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    """What brat has no place for."""

    lapsus: int
    document: PlacedDocument
    annotator: str | None = None
    judgments: list[Judgment] = []
    """All of this annotator's judgments of the document; the `.ann` shows one of them."""


class Copy(NamedTuple):
    """A document in one annotator's folder."""

    folder: str
    text: Member | None
    marks: Member | None
    side: Member | None

    @property
    def name(self) -> str:
        """One of its files, for messages."""
        return next(member.name for member in (self.text, self.marks, self.side) if member)


def copies(source: Source) -> list[list[Copy]]:
    """The copies of each document. Only names are looked at, so that documents can be read one by one."""
    found: dict[str, dict[str, dict[str, Member]]] = {}
    for member in source.members(TEXT, MARKS, SIDE):
        ending = next(ending for ending in (TEXT, MARKS, SIDE) if member.name.endswith(ending))
        stem = member.path.name.removesuffix(ending)
        found.setdefault(stem, {}).setdefault(str(member.path.parent), {})[ending] = member
    return [[_copy(*item) for item in folders.items()] for folders in found.values()]


def _copy(folder: str, files: dict[str, Member]) -> Copy:
    return Copy(folder, files.get(TEXT), files.get(MARKS), files.get(SIDE))


def text_of(member: Member) -> str:
    """A file's text exactly: brat counts every sign, line ends and byte-order mark included."""
    with member.open() as stream:
        content = stream.read()
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError("not-utf-8-text", where=member.name, hint="brat-needs-utf-8", error=error) from error


def side_of(member: Member) -> SideFile:
    """A side file."""
    try:
        side = decoder(SideFile).decode(member.read())
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError("not-lapsus-writes", where=member.name, error=error) from error
    if side.lapsus > VERSION:
        raise InputError(
            "written-newer-lapsus-format",
            where=member.name,
            hint="update-lapsus",
            lapsus=side.lapsus,
            version=VERSION,
        )
    return side


def configuration(labels: Iterable[str], line: str) -> str:
    """The `annotation.conf` of a folder: which labels brat offers, and that marks can be tied."""
    names = "".join(f"{label}\n" for label in labels)
    ties = f"{line}\tArg1:<ENTITY>, Arg2:<ENTITY>, <REL-TYPE>:symmetric\n"
    # Without this line brat's own verifier takes marks that lie in one another for a mistake.
    ties += "<OVERLAP>\tArg1:<ENTITY>, Arg2:<ENTITY>, <OVL-TYPE>:<ANY>\n"
    return f"[entities]\n{names}\n[relations]\n{ties}\n[events]\n\n[attributes]\n"
