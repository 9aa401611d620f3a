"""Making a campaign from a plan and its data, all of it or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from lapsus.errors import InputError, LapsusError
from lapsus.formats import read
from lapsus.model import Document, Entry, Scheme
from lapsus.schemes import load_scheme
from lapsus.store.drafts import Drafts
from lapsus.store.known import KnownAnswers
from lapsus.store.plan import Block, KnownUnit, Plan
from lapsus.store.programs import Programs
from lapsus.store.records import Added, Campaign
from lapsus.store.rows import as_campaign


class Material(msgspec.Struct, frozen=True):
    """What a plan refers to: its guideline, and what its files say."""

    scheme: Scheme
    known: Mapping[Block, Sequence[KnownUnit]]
    documents: tuple[Document, ...]
    """Documents that come with files of known answers."""


class SettingUp(Programs, Drafts):
    """From a plan to a campaign."""

    def set_up(
        self,
        plan: Plan,
        documents: Iterable[Document] = (),
        *,
        material: Material | None = None,
        by: int | None = None,
    ) -> tuple[Campaign, Added]:
        """A campaign with its documents, made in one transaction: if anything is wrong, nothing was made."""
        found = material or read_material(plan, Path())

        def every() -> Iterator[Document]:
            yield from found.documents
            yield from documents

        with self.writing() as conn:
            row = self._create(conn, plan, found.scheme, found.known, by)
            if plan.chain is None:
                added = self._add_documents(conn, row.id, every(), by, found.known)
                _check_any(plan, added)
            else:
                added = Added(0, 0, 0)
            if plan.has_known:
                KnownAnswers(plan, found.scheme, found.known).check_all_found(conn, row.id)
            return as_campaign(row), added


def _check_any(plan: Plan, added: Added) -> None:
    where = f"campaign {plan.name!r}"
    if not added.documents:
        raise InputError("has no documents", where=where, hint="name them under `data`, or with --data")
    if not added.units:
        raise InputError(
            f"nothing in its {added.documents:,} documents is judged under {plan.scheme!r}",
            where=where,
            hint="is it the right guideline for this data?",
        )


def plan_documents(plan: Plan, folder: Path) -> Iterator[Document]:
    """The documents that a plan names; paths start from the folder."""
    if (data := plan.source) is None:
        return
    entries = read(folder / data.path, data.format, only=data.only, language=data.language)
    yield from (entry.document for entry in entries if entry.document is not None)


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
    for entry in read(path):
        mine = _known_units(entry, scheme)
        units += mine
        if mine and entry.document is not None:
            documents.append(entry.document)
    if not units:
        raise InputError(f"nothing in it is judged under {scheme.id!r}", where=str(path))
    return units, documents


def _known_units(entry: Entry, scheme: Scheme) -> list[KnownUnit]:
    found: dict[str | None, KnownUnit] = {}
    for judgment in entry.judgments:
        if judgment.scheme != scheme.id:
            continue
        if judgment.segment in found:
            place = f"document {entry.id!r}" + (f", segment {judgment.segment!r}" if judgment.segment else "")
            raise InputError(
                "is judged more than once", where=place, hint="`lapsus gold` makes one answer of many"
            )
        feedback = judgment.metadata.get("feedback", {})
        words = {"en": feedback} if isinstance(feedback, str) else feedback
        found[judgment.segment] = KnownUnit(entry.id, judgment.answers, judgment.segment, words)
    return list(found.values())
