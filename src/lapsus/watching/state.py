"""What a watch remembers, in one SQLite file: each step is one transaction, so that nothing is lost or done twice."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from lapsus.errors import InputError
from lapsus.model import Document, UnitKey
from lapsus.trust.confidence_sequences import Period

_TABLES = """
CREATE TABLE IF NOT EXISTS setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS observed (
  number INTEGER PRIMARY KEY, document TEXT NOT NULL, window INTEGER NOT NULL, share REAL NOT NULL);
CREATE TABLE IF NOT EXISTS judged (
  document TEXT NOT NULL, segment TEXT NOT NULL, window INTEGER NOT NULL, error INTEGER NOT NULL,
  drawn INTEGER NOT NULL, why TEXT NOT NULL, PRIMARY KEY (document, segment));
CREATE TABLE IF NOT EXISTS queue (name TEXT PRIMARY KEY, document BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS labels (
  number INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, window INTEGER NOT NULL, gap REAL NOT NULL);
CREATE TABLE IF NOT EXISTS events (
  number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, kind TEXT NOT NULL, body BLOB NOT NULL,
  sent INTEGER NOT NULL DEFAULT 0);
"""


class Kept(NamedTuple):
    """A judged unit as it is remembered."""

    key: UnitKey
    is_error: bool
    is_drawn: bool
    """Drawn at random, so that people's answers correct the judge's share."""
    why: str
    """By which rules it goes to people: drawn, flagged, doubtful; empty: not at all."""


@contextmanager
def told_of(path: Path) -> Iterator[None]:
    """Explain that the file is damaged, or that another watch uses it."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        is_held = getattr(error, "sqlite_errorname", "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))
        name = "watch-state-held" if is_held else "watch-state-unreadable"
        raise InputError(name, where=str(path), reason=str(error)) from None


@contextmanager
def _sound() -> Iterator[None]:
    """What was changed to something else than a watch writes is damage like any other."""
    try:
        yield
    except (ValueError, OverflowError) as error:
        raise sqlite3.DataError(str(error)) from error


class WatchState:
    """The file. One watch at a time may hold it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with told_of(path):
            self._file = sqlite3.connect(path, timeout=1.0, isolation_level=None)
            self._file.execute("PRAGMA journal_mode=WAL")
            self._file.execute("PRAGMA synchronous=FULL")
            self._file.executescript(_TABLES)

    def close(self) -> None:
        """Let the file go."""
        self._file.close()

    @contextmanager
    def step(self) -> Iterator[None]:
        """All of what is done within, or nothing."""
        self._file.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._file.execute("ROLLBACK")
            raise
        self._file.execute("COMMIT")

    # Settings that must stay as they were, and what was seen of the source.

    def setting(self, name: str) -> str | None:
        """What was noted under a name."""
        row = self._file.execute("SELECT value FROM setting WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def note(self, name: str, value: str) -> None:
        """Note something under a name."""
        self._file.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (name, value))

    # Units.

    def known(self, document: str) -> frozenset[str | None]:
        """The segments of a document that were judged."""
        rows = self._file.execute("SELECT segment FROM judged WHERE document = ?", (document,))
        return frozenset(row[0] or None for row in rows)

    def add(self, document: str, window: int, kept: Iterable[Kept], queue: Mapping[str, bytes]) -> None:
        """The new units of a document, and what of them goes to people."""
        units = list(kept)
        share = sum(one.is_error for one in units) / len(units)
        self._file.execute(
            "INSERT INTO observed (document, window, share) VALUES (?, ?, ?)", (document, window, share)
        )
        self._file.executemany(
            "INSERT INTO judged VALUES (?, ?, ?, ?, ?, ?)",
            [(document, one.key.segment or "", window, one.is_error, one.is_drawn, one.why) for one in units],
        )
        self._file.executemany("INSERT OR IGNORE INTO queue VALUES (?, ?)", list(queue.items()))

    def waiting(self) -> dict[str, Document]:
        """Documents that are to go into the campaign."""
        rows = self._file.execute("SELECT name, document FROM queue ORDER BY rowid")
        with _sound():
            return {name: msgspec.json.decode(body, type=Document) for name, body in rows}

    def queued(self, names: Iterable[str]) -> None:
        """They are in the campaign."""
        self._file.executemany("DELETE FROM queue WHERE name = ?", [(name,) for name in names])

    def unlabelled(self) -> dict[str, tuple[int, bool]]:
        """Drawn units without people's answer: by the name they have in the campaign, window and judge's answer."""
        rows = self._file.execute("SELECT document, segment, window, error FROM judged WHERE drawn")
        known = {row[0] for row in self._file.execute("SELECT name FROM labels")}
        found = {
            queue_name(document, segment): (window, bool(error)) for document, segment, window, error in rows
        }
        return {name: about for name, about in found.items() if name not in known}

    def label(self, name: str, window: int, gap: float) -> None:
        """People's answer about a drawn unit; the first one that is seen stays."""
        self._file.execute(
            "INSERT OR IGNORE INTO labels (name, window, gap) VALUES (?, ?, ?)", (name, window, gap)
        )

    def period(self, window: int) -> Period:
        """What was seen in a window, in the order in which it came."""
        judge = self._file.execute("SELECT share FROM observed WHERE window = ? ORDER BY number", (window,))
        gap = self._file.execute("SELECT gap FROM labels WHERE window = ? ORDER BY number", (window,))
        with _sound():
            found = Period(*(np.array([row[0] for row in rows], dtype=np.float64) for rows in (judge, gap)))
            if not ((found.judge >= 0) & (found.judge <= 1)).all() or not (np.abs(found.gap) <= 1).all():
                raise ValueError("no share")
        return found

    def reference(self) -> Period:
        """The first window as it was when a later one was first held against it: late answers do not change it."""
        found = self.period(0)
        told = self.setting("reference")
        if told is None:
            if found.is_empty:
                return found
            told = f"{len(found.judge)} {len(found.gap)}"
            with self.step():
                self.note("reference", told)
        with _sound():
            judge, gap = map(int, told.split())
        return Period(found.judge[:judge], found.gap[:gap])

    def counts(self) -> dict[str, int]:
        """Units judged, errors among them, units that went or will go to people, and people's answers."""
        judged, errors, people = self._file.execute(
            "SELECT count(*), coalesce(sum(error), 0), coalesce(sum(why != ''), 0) FROM judged"
        ).fetchone()
        labels = self._file.execute("SELECT count(*) FROM labels").fetchone()[0]
        return {"judged": judged, "errors": errors, "to_people": people, "answered": labels}

    # Events.

    def event(self, id: str, kind: str, about: Mapping[str, Any]) -> bool:
        """Something that happened, to be told once; whether it is new."""
        body = json.dumps({"id": id, "event": kind, **about}, ensure_ascii=False).encode()
        done = self._file.execute(
            "INSERT OR IGNORE INTO events (id, kind, body) VALUES (?, ?, ?)", (id, kind, body)
        )
        return done.rowcount > 0

    def unsent(self) -> list[tuple[str, str, bytes]]:
        """Events that nobody has taken yet, oldest first."""
        return list(self._file.execute("SELECT id, kind, body FROM events WHERE NOT sent ORDER BY number"))

    def sent(self, id: str) -> None:
        """An event was taken."""
        self._file.execute("UPDATE events SET sent = 1 WHERE id = ?", (id,))


def queue_name(document: str, segment: str | None) -> str:
    """The name in the campaign of the document that holds one unit."""
    return f"{document}#{segment}" if segment else document
