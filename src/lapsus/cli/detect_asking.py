"""`lapsus detect` with a language model: judged units are kept at once, so that a run can be gone on with."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from lapsus.cli.asking import Asking, ask_leave, ending_gently, facts, finish, make_language_model, tell
from lapsus.cli.convert import tell_reading
from lapsus.cli.output import print_json, progress, remark
from lapsus.errors import UsageError
from lapsus.formats import Format, Reading
from lapsus.formats.sink import check_place, put_in_place
from lapsus.model import Entry, Scheme, Unit, units

if TYPE_CHECKING:
    from lapsus.annotators.language_model import LanguageModel
    from lapsus.annotators.language_model.journal import Journal


def ask_about_data(
    name: str,
    reading: Reading,
    scheme: Scheme,
    asking: Asking,
    target: Path,
    format: Format,
    *,
    keep: bool,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Have a language model judge the units of a source, and write what it said."""
    from lapsus.annotators.language_model.journal import Journal

    _check_target(target, format, scheme, keep)
    journal = Journal(target.with_name(f"{target.name}.part.jsonl"))
    goes_on = bool(journal.judgments)
    check_place(target, overwrite=overwrite or goes_on)
    stop = threading.Event()
    model = make_language_model(name, scheme, asking, stop)
    _check_journal(journal, model)
    waiting = _take_stock(reading, scheme, journal)
    tell_reading(reading)
    if goes_on:
        _tell_journal(journal, waiting)
    if waiting:
        ask_leave(asking, waiting)
    with ending_gently(stop), progress("units", waiting) as step:
        for judgment in model.judge_units(_waiting(reading, scheme, journal)):
            journal.add(judgment)
            step()
    is_through = not stop.is_set() and bool(journal.judgments)
    if is_through:
        with put_in_place(target, overwrite=overwrite or goes_on) as draft:
            format.write(_judged(reading, scheme, journal, model.called, keep), draft)
        if not model.refused:
            journal.remove()
    _report(model, journal, target if is_through else journal.path, as_json)
    finish(model, stop)


def _check_target(target: Path, format: Format, scheme: Scheme, keep: bool) -> None:
    """What the model says must fit into the output: that is known before anything is paid for."""
    if format.name == "jsonl":
        return
    if format.name != "dbdc-run" or scheme.id != "breakdown" or keep:
        raise UsageError(
            f"{format.name} does not hold all that is written here",
            where=str(target),
            hint="name a file that ends in .jsonl; `lapsus convert` makes other formats of it",
        )


def _check_journal(journal: Journal, model: LanguageModel) -> None:
    for judgment in journal.judgments.values():
        scheme = (judgment.scheme, judgment.version) == (model.scheme.id, model.scheme.version)
        if others := (*(() if scheme else ("scheme",)), *model.differences(judgment.metadata)):
            raise UsageError(
                f"was begun with another {', '.join(others)}",
                where=str(journal.path),
                hint="go on with the same options, or remove it to begin anew",
            )


def _tell_journal(journal: Journal, waiting: int) -> None:
    known = len(journal.judgments)
    remark(f"{journal.path} holds {known:,} judgments about DATA; {waiting:,} units are left")


def _take_stock(reading: Reading, scheme: Scheme, journal: Journal) -> int:
    """How many units are to be judged. What the journal holds about other texts than those of now is left aside."""
    from lapsus.annotators.language_model.prompt import unit_digest
    from lapsus.annotators.language_model.targets import target_votes, wanted_units

    known, waiting, without_votes = {}, 0, 0
    for entry in reading:
        without_votes += entry.document is not None and not target_votes(entry, scheme)
        for unit in wanted_units(entry, scheme):
            judgment = journal.judgments.get(unit.key)
            if judgment is not None and judgment.metadata.get("material") == unit_digest(unit):
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


def _waiting(reading: Reading, scheme: Scheme, journal: Journal) -> Iterator[Unit]:
    """The units that are still to be judged."""
    from lapsus.annotators.language_model.targets import wanted_units

    for entry in reading:
        yield from (unit for unit in wanted_units(entry, scheme) if unit.key not in journal.judgments)


def _judged(reading: Reading, scheme: Scheme, journal: Journal, called: str, keep: bool) -> Iterator[Entry]:
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
        print_json({"by": model.called, "out": there, "judged": judged, **facts(model)})
        return
    tell(model)
    left = f", {len(model.refused):,} could not be judged" if model.refused else ""
    typer.echo(f"{judged:,} units are judged by {model.called}{left}{f' → {out}' if out.exists() else ''}")
