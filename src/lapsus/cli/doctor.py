"""`lapsus doctor`: is everything here that a workbench needs?"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec
import typer

from lapsus.cli.output import aside, colon, in_words, print_json, print_table, word
from lapsus.errors import LapsusError, reason_of
from lapsus.notices import Notice
from lapsus.version import __version__

ROOM = 100_000_000
"""Bytes that have to be free where the database is; ten times as many keep us from warning."""
FILES = 1024
"""Open files: a connection takes one."""
_PACKAGE = re.compile(r"[A-Za-z0-9._-]+")


class Finding(msgspec.Struct, frozen=True):
    """One thing that was looked at."""

    check: str
    state: Literal["ok", "warning", "error"]
    found: str
    hint: str = ""
    where: str = ""


def doctor_command(db: str | None = None, as_json: bool = False) -> None:
    """Look at this installation, its database and its models, and say what is missing. Nothing is changed.

    Exit 1 where something keeps Lapsus from working.
    """
    findings = [finding for name, check in CHECKS.items() for finding in _looked_at(name, check, db)]
    if as_json:
        print_json(findings)
    else:
        _show(findings)
    if any(one.state == "error" for one in findings):
        raise typer.Exit(1)


def _show(findings: Sequence[Finding]) -> None:
    """A table in the reader's language."""

    def said(one: Finding) -> str:
        found, hint = (" ".join(in_words(text).split()) for text in (one.found, one.hint))
        return (one.where + colon() if one.where else "") + found + (aside(hint) if hint else "")

    rows = [(word(one.check), word(one.state), said(one)) for one in findings]
    print_table(("what", "state", "found"), rows)


def _looked_at(name: str, check: Check, db: str | None) -> Iterator[Finding]:
    try:
        yield from check(db)
    except LapsusError as error:
        yield Finding(name, "error", error.what, error.hint or "", error.where or "")
    except OSError as error:
        yield Finding(name, "error", reason_of(error), where=str(error.filename or ""))


def _program(db: str | None) -> Iterator[Finding]:
    found = f"lapsus {__version__}, Python {platform.python_version()}, {platform.platform(terse=True)}"
    yield Finding("program", "ok", found)
    encoding = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "")
    if encoding != "utf8":
        hint = Notice("set-lang-c-utf-8")
        yield Finding(
            "terminal",
            "warning",
            Notice("writes-japanese-may-break", encoding=encoding or Notice("nothing")),
            hint,
        )


def _packages(db: str | None) -> Iterator[Finding]:
    """Every package that is required, and which extras are whole."""
    missing: dict[str, list[str]] = {}
    extras: set[str] = set()
    for line in importlib.metadata.requires("lapsus-eval") or []:
        name, _, condition = line.partition(";")
        extra = condition.partition("extra ==")[2].strip(" \"'") or ""
        if extra in ("dev", "docs"):
            continue
        extras.add(extra)
        package = _PACKAGE.match(name)
        if package is None or package.group() == "lapsus-eval":
            continue
        try:
            importlib.metadata.version(package.group())
        except importlib.metadata.PackageNotFoundError:
            missing.setdefault(extra, []).append(package.group())
    if needed := missing.pop("", None):
        yield Finding(
            "packages", "error", Notice("missing-2", needed=", ".join(needed)), Notice("install-again")
        )
    else:
        yield Finding("packages", "ok", Notice("all-needed"))
    there = sorted(extras - missing.keys() - {""})
    yield Finding(
        "extras",
        "ok",
        Notice("installed-not", there=", ".join(there) or "–", missing=", ".join(sorted(missing)) or "–"),
    )


def _database(db: str | None) -> Iterator[Finding]:
    """The database as it is: neither made nor brought up to date."""
    from sqlalchemy import text

    from lapsus.store.database import connected, database_url, default_database
    from lapsus.store.migrations import HEAD, schema_version

    path = default_database() if db is None else None
    if path is None and (url := database_url(db)).drivername == "sqlite":
        path = Path(url.database or "")
    if path is not None and not path.exists():
        yield Finding("database", "ok", Notice("none-yet-first-start", path=path))
        return
    with connected(path or db) as (conn, where):
        version = schema_version(conn)
        if version is None:
            yield Finding(
                "database", "warning", Notice("no-tables-yet", place=where), Notice("first-start-makes")
            )
            return
        if path is not None:
            said = str(conn.scalar(text("PRAGMA quick_check(1)")))
            if said != "ok":
                yield Finding(
                    "database", "error", Notice("damaged", place=where, said=said), Notice("restore-backup")
                )
                return
        counts = {
            name: int(conn.scalar(text(f"SELECT count(*) FROM {name}")) or 0)  # noqa: S608  names of our own
            for name in ("person", "campaign", "judgment")
        }
    people, campaigns, judgments = counts.values()
    found = Notice(
        "people-campaigns-judgments-2", place=where, people=people, campaigns=campaigns, judgments=judgments
    )
    if version == HEAD:
        yield Finding("database", "ok", found)
    else:
        hint = Notice("next-start-brings-up") if path else Notice("make-backup-before-next")
        yield Finding("database", "warning", Notice("version", found=found, version=version, head=HEAD), hint)


def _room(db: str | None) -> Iterator[Finding]:
    from lapsus.store.database import database_url, default_database

    # Asked without a path, it makes the folder of the default.
    url = database_url(default_database() if db is None else db)
    if url.drivername == "sqlite":
        folder = Path(url.database or ".").absolute().parent
        while not folder.exists():
            folder = folder.parent
        free = shutil.disk_usage(folder).free
        state: Literal["ok", "warning", "error"] = (
            "ok" if free >= 10 * ROOM else "warning" if free >= ROOM else "error"
        )
        hint = "" if state == "ok" else Notice("make-room-saves-refused")
        yield Finding("disk", state, Notice("gb-free", free=free / 1000000000.0, folder=folder), hint)
        if not os.access(folder, os.W_OK):
            yield Finding("disk", "error", Notice("cannot-written", folder=folder), Notice("run-owner"))
    if os.name == "posix":
        import resource

        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        is_enough = files == resource.RLIM_INFINITY or files >= FILES
        hint = "" if is_enough else f"ulimit -n {FILES * 4}"
        yield Finding("open files", "ok" if is_enough else "warning", Notice("up", files=files), hint)


def _detectors(db: str | None) -> Iterator[Finding]:
    """Whether each shipped detector answers."""
    from lapsus.annotators.detection import detect
    from lapsus.model import Document, Entry, Segment

    for language, said in (
        ("en", "Nice to meet you. What do you like?"),
        ("ja", "こんにちは。趣味は何ですか。"),
    ):
        turns = (Segment("1", "user", said), Segment("2", "system", said))
        try:
            found = next(iter(detect([Entry("doctor", Document("doctor", turns, language=language))])))
            yield Finding(
                f"detector {language}",
                "ok",
                Notice("answers-3", answers=found.judgments[0].answers["breakdown"]),
            )
        except LapsusError as error:
            yield Finding(f"detector {language}", "error", error.what, error.hint or "")
    yield _large_reader()
    yield Finding("licences", "ok", Notice("models-not-for-commerce"))


def _large_reader() -> Finding:
    """Whether the large English reader is there, and whole."""
    from lapsus.annotators.encoder.large_reader import PACKAGE, is_installed, large_reader
    from lapsus.annotators.encoder.reader import Passage

    if not is_installed():
        return Finding(
            "large reader", "ok", Notice("not-installed-small-one"), "pip install 'lapsus-eval[large]'"
        )
    reader = large_reader()
    reader.said([Passage((), "Hello.")])
    try:
        version = importlib.metadata.version(PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        # Its files are on the path without having been installed.
        version = reader.digest
    return Finding("large reader", "ok", Notice("answers-2", package=PACKAGE, version=version))


Check = Callable[[str | None], Iterator[Finding]]
CHECKS: Mapping[str, Check] = {
    "program": _program,
    "packages": _packages,
    "database": _database,
    "disk": _room,
    "detectors": _detectors,
}
