"""`lapsus campaign import`: judgments that were given elsewhere become a campaign's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lapsus.cli.convert import tell_reading
from lapsus.cli.output import print_json, progress, reader_language, remark, say
from lapsus.cli.result_tables import announce
from lapsus.cli.shared_options import open_database
from lapsus.errors import InputError

if TYPE_CHECKING:
    from lapsus.analysis.validating import Validation
    from lapsus.formats import EntryStream
    from lapsus.model import Entry, Scheme


def import_command(
    name: str,
    data: list[Path],
    from_format: str | None = None,
    only: str | None = None,
    lang: str | None = None,
    drop_broken: bool = False,
    db: str | None = None,
    as_json: bool = False,
) -> None:
    """Bring judged documents in as judgments of a campaign, all or nothing. What is there already stays."""
    from lapsus.analysis.validating import validate_reading
    from lapsus.formats import read
    from lapsus.schemes import given_schemes

    reading = read(data, from_format, only=only, language=lang)
    announce(reading)
    with open_database(db) as store:
        scheme = store.campaigns.scheme(name)
        found = validate_reading(reading, scheme)
        if found.broken and not drop_broken:
            raise _refusal(found, reading.source.shown)
        with progress("documents", reading.documents) as step, given_schemes([scheme]):
            done = store.imports.add_judgments(name, _entries(reading, scheme, step, drop_broken=drop_broken))
    broken = len(found.broken)
    if as_json:
        print_json(
            {"name": name, "documents": done.documents, "judgments": done.judgments, "known": done.known,
             "people": done.people, "broken": broken, "passed_over": done.passed_over}
        )  # fmt: skip
        return
    tell_reading(reading)
    for other, count in done.passed_over.items():
        remark("judgments-under-not-part", count=count, other=other)
    if broken:
        remark("judgments-break-guideline-left-out", broken=broken)
    say(
        "judgments-new-people-new",
        name=name,
        judgments=done.judgments,
        people=done.people,
        documents=done.documents,
        known=done.known,
    )


def _refusal(found: Validation, where: str) -> InputError:
    first = found.problems(reader_language())[0]
    return InputError(
        "judgments-break-guideline-first",
        where=where,
        hint="lapsus-validate-lists-drop-broken",
        count=len(found.broken),
        judgments=found.judgments,
        first=first["document"],
        first2=first["message"],
    )


def _entries(
    reading: EntryStream, scheme: Scheme, step: Callable[[], None], *, drop_broken: bool
) -> Iterator[Entry]:
    from lapsus.model import Entry
    from lapsus.schemes.checker import Checker

    checker = Checker([scheme])
    for entry in reading:
        kept = entry.judgments
        if drop_broken:
            kept = tuple(j for j in kept if j.scheme != scheme.id or not checker.broken(j, entry.document))
        step()
        yield Entry(entry.id, entry.document, kept)
