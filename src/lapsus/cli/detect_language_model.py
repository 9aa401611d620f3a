"""`lapsus detect` with a language model: judged units are kept at once, so that a run can be gone on with."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lapsus.cli.convert import tell_reading
from lapsus.cli.language_model_options import (
    LanguageModelOptions,
    ask_leave,
    ending_gently,
    facts,
    finish,
    make_language_model,
    tell,
)
from lapsus.cli.output import print_json, progress, remark, say
from lapsus.errors import UsageError
from lapsus.formats import EntryStream, Format
from lapsus.formats.sink import check_place, put_in_place
from lapsus.model import Entry, Scheme, Unit, units
from lapsus.model.targets import target_votes, voted_segments, wanted_units

if TYPE_CHECKING:
    from lapsus.annotators.bulk import Engine
    from lapsus.annotators.language_model import LanguageModel
    from lapsus.annotators.language_model.journal import Journal


def ask_about_data(
    name: str,
    reading: EntryStream,
    scheme: Scheme,
    asking: LanguageModelOptions,
    engine: Engine,
    target: Path,
    format: Format,
    *,
    keep: bool,
    overwrite: bool,
    as_json: bool,
    judged_only: bool,
    is_member: bool = False,
) -> None:
    """Have a language model judge the units of a source, and write what it said.

    `is_member`: for a jury, so that the file is none that stays.
    """
    from lapsus.annotators.language_model.journal import Journal

    _check_target(target, format, scheme, keep)
    journal = Journal(target.with_name(f"{target.name}.part.jsonl"))
    goes_on = bool(journal.judgments)
    check_place(target, overwrite=overwrite or goes_on)
    stop = threading.Event()
    wanted = _Wanted(scheme, judged_only)
    model = make_language_model(name, scheme, asking, stop, engine)
    model.go_on_with(journal)
    waiting = _take_stock(reading, wanted, scheme, journal)
    tell_reading(reading)
    if goes_on:
        _tell_journal(journal, waiting)
    if waiting:
        ask_leave(asking, waiting)
    with ending_gently(stop), progress("units", waiting) as step:
        for _ in model.judge_units(_waiting(reading, wanted, journal)):
            step()
    is_through = not stop.is_set() and bool(journal.judgments)
    if is_through:
        with put_in_place(target, overwrite=overwrite or goes_on) as draft:
            format.write(_judged(reading, scheme, journal, model.name, keep), draft)
        if not model.refused:
            journal.remove()
    if is_through and is_member:
        tell(model)
        remark(_said(model, journal))
    else:
        _report(model, journal, target if is_through else journal.path, as_json)
    finish(model, stop)


def _check_target(target: Path, format: Format, scheme: Scheme, keep: bool) -> None:
    """What the model says must fit into the output: that is known before anything is paid for."""
    if format.name == "jsonl":
        return
    if format.name != "dbdc-run" or not format.suits(scheme) or keep:
        raise UsageError(
            f"{format.name} does not hold all that is written here",
            where=str(target),
            hint="name a file that ends in .jsonl; `lapsus convert` makes other formats of it",
        )


def _tell_journal(journal: Journal, waiting: int) -> None:
    known = len(journal.judgments)
    remark(f"{journal.path} holds {known:,} judgments about DATA; {waiting:,} units are left")


class _Wanted:
    """The units of an entry that the model is asked about."""

    def __init__(self, scheme: Scheme, judged_only: bool) -> None:
        self.scheme, self.judged_only = scheme, judged_only

    def units(self, entry: Entry) -> Iterator[Unit]:
        voted = voted_segments(entry, self.scheme.id) if self.judged_only else None
        for unit in wanted_units(entry, self.scheme):
            if voted is None or unit.key.segment in voted:
                yield unit


def _take_stock(reading: EntryStream, wanted: _Wanted, scheme: Scheme, journal: Journal) -> int:
    """How many units are to be judged. What the journal holds about other texts than those of now is left aside."""
    known, waiting, without_votes = {}, 0, 0
    for entry in reading:
        without_votes += entry.document is not None and not target_votes(entry, scheme)
        for unit in wanted.units(entry):
            if (judgment := journal.about(unit)) is not None:
                known[unit.key] = judgment
            else:
                waiting += 1
    journal.judgments = known
    if scheme.target is not None and without_votes:
        remark(
            f"{without_votes:,} documents hold no votes under {scheme.target.scheme!r}, which would choose what is"
            " judged: the model is asked about all their units"
        )
    return waiting


def _waiting(reading: EntryStream, wanted: _Wanted, journal: Journal) -> Iterator[Unit]:
    """The units that are still to be judged."""
    for entry in reading:
        yield from (unit for unit in wanted.units(entry) if unit.key not in journal.judgments)


def _judged(
    reading: EntryStream, scheme: Scheme, journal: Journal, called: str, keep: bool
) -> Iterator[Entry]:
    for entry in reading:
        keys = [unit.key for unit in units(entry.document, scheme.unit)] if entry.document else []
        found = tuple(journal.judgments[key] for key in keys if key in journal.judgments)
        others = tuple(j for j in entry.judgments if keep and (j.annotator, j.scheme) != (called, scheme.id))
        if found or others:
            yield Entry(entry.id, entry.document, (*others, *found))


def _report(model: LanguageModel, journal: Journal, out: Path, as_json: bool) -> None:
    judged = len(journal.judgments)
    if as_json:
        there = str(out) if out.exists() else None
        print_json({"by": model.name, "out": there, "judged": judged, **facts(model)})
        return
    tell(model)
    say(_said(model, journal), to=out if out.exists() else None)


def _said(model: LanguageModel, journal: Journal) -> str:
    said, left = f"{len(journal.judgments):,} units are judged by {model.name}", len(model.refused)
    return f"{said}, {left:,} could not be judged" if left else said
