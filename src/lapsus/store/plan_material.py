"""What a plan refers to: its guideline, its documents and its known answers, read from files."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from lapsus.errors import InputError, LapsusError
from lapsus.formats import read
from lapsus.formats.remote import Address, location
from lapsus.model import Document, Entry, Scheme
from lapsus.model.targets import Screened, screened
from lapsus.notices import Notice
from lapsus.schemes import given_schemes, load_scheme
from lapsus.store.plan import Block, KnownUnit, Plan


class Material(msgspec.Struct, frozen=True):
    """What a plan refers to: its guideline, and what its files say."""

    scheme: Scheme
    known: Mapping[Block, Sequence[KnownUnit]]
    documents: tuple[Document, ...]
    """Documents that come with files of known answers."""


def plan_documents(plan: Plan, folder: Path, scheme: Scheme) -> Iterator[Screened]:
    """The documents that a plan names, each with its targets; paths start from the folder."""
    if (data := plan.source) is None:
        return
    place = location(data.path)
    path = place if isinstance(place, Address) else folder / data.path
    entries = read(path, data.format, only=data.only, language=data.language)
    yield from screened(entries, scheme)


def read_material(plan: Plan, folder: Path) -> Material:
    """What a plan refers to; paths start from the folder."""
    name = str(folder / plan.scheme) if plan.scheme.endswith((".yaml", ".yml")) else plan.scheme
    scheme = load_scheme(name)
    known: dict[Block, Sequence[KnownUnit]] = {}
    documents: list[Document] = []
    for block, what in plan.known.items():
        if what.file is None:
            continue
        try:
            known[block], found = known_units_in(folder / what.file, scheme)
        except LapsusError as error:
            raise InputError(error.what, where=error.where, hint=error.hint).at(block) from error
        # The practice and the checks bring their own documents; gold stands among the campaign's.
        documents += found if block != "gold" else ()
    return Material(scheme, known, tuple(documents))


def known_units_in(path: Path, scheme: Scheme) -> tuple[list[KnownUnit], list[Document]]:
    """The units that a file of judgments says what is right of, and their documents."""
    units: list[KnownUnit] = []
    documents: list[Document] = []
    with given_schemes([scheme]):
        for entry in read(path):
            mine = _known_units(entry, scheme)
            units += mine
            if mine and entry.document is not None:
                documents.append(entry.document)
    if not units:
        raise InputError("nothing-in-it-is-judged-under", where=str(path), id=scheme.id)
    return units, documents


def _known_units(entry: Entry, scheme: Scheme) -> list[KnownUnit]:
    found: dict[str | None, KnownUnit] = {}
    for judgment in entry.judgments:
        if judgment.scheme != scheme.id:
            continue
        if judgment.segment in found:
            place = Notice("document", document=entry.id) + (
                f", segment {judgment.segment!r}" if judgment.segment else ""
            )
            raise InputError("judged-more-once", where=place, hint="lapsus-gold-makes-one")
        feedback = judgment.metadata.get("feedback", {})
        words = {"en": feedback} if isinstance(feedback, str) else feedback
        found[judgment.segment] = KnownUnit(entry.id, judgment.answers, judgment.segment, words)
    return list(found.values())
