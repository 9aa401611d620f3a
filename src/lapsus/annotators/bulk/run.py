"""The one driver of judging: documents or units in, answers kept as they come, judgments out.

Detectors, trained judges and language models all go through it, here or on a cluster. What an annotator does with a
piece is its `work()`; where that is done is the engine's business; what was done before is found in `kept`.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

import msgspec

from lapsus.annotators.base import Annotator
from lapsus.annotators.bulk.work import Work
from lapsus.annotators.cases import cases_of
from lapsus.errors import InputError
from lapsus.formats.jsonl import VERSION, Line
from lapsus.model import Document, Entry, Judgment, Unit, UnitKey
from lapsus.model.decoders import decoder
from lapsus.notices import Notice, as_text

T = TypeVar("T")
R = TypeVar("R")
UNITS = 1024
"""Units of a chunk, or a few more: documents are not cut. Every engine has the same chunks, or bytes would differ."""
AHEAD = 4
"""How many times as many pieces as are under way may wait, finished, for one before them."""

Chosen: TypeAlias = frozenset[str | None] | None
"""The segments of a document that are to be judged; None: all that its guideline wants judged."""


class Engine(Protocol):
    """Does work."""

    def room_for(self, work: Work[Any, Any]) -> int:
        """How many pieces of some work it makes sense to have begun and not finished."""
        ...

    def begin(self, work: Work[T, R], things: Sequence[T]) -> Future[list[R]]:
        """Begin some work. What goes wrong in it is raised by the result."""
        ...


class Here:
    """This process: one piece after the other, or in threads where the work mostly waits."""

    def room_for(self, work: Work[Any, Any]) -> int:
        """As many as the work has under way on one processor."""
        return work.at_once

    def begin(self, work: Work[T, R], things: Sequence[T]) -> Future[list[R]]:
        """Do it at once, or in a thread; a program that is ended does not wait for its threads."""
        future: Future[list[R]] = Future()

        def do() -> None:
            try:
                future.set_result(work.do(things))
            except Exception as error:  # raised where the result is asked for
                future.set_exception(error)

        if work.by_unit:
            threading.Thread(target=do, daemon=True, name="lapsus-asking").start()
        else:
            do()
        return future


class Kept(Protocol):
    """Answers on disk, so that a program that was killed goes on where it was."""

    def find(self, work: Work[Any, Any], things: Sequence[Any]) -> list[Any] | None:
        """What came out of that work before; None where it was not done."""
        ...

    def keep(self, work: Work[Any, Any], things: Sequence[Any], results: Sequence[Any]) -> None:
        """Keep what came out."""
        ...

    def remove(self) -> None:
        """Everything in it stands elsewhere now."""
        ...


class _Part(NamedTuple):
    """A thing that is worked on, and the document that it is of."""

    thing: Any
    document: Document | None
    is_last: bool
    """Whether nothing else of the document comes after it."""


class _Piece(NamedTuple):
    work: Work[Any, Any]
    parts: list[_Part]

    @property
    def things(self) -> list[Any]:
        return [part.thing for part in self.parts if part.thing is not None]


_Begun: TypeAlias = tuple[_Piece, Future[list[Any]]]


class Run:
    """Judges a stream. Only pieces under way, and those that wait for their turn, are in memory."""

    def __init__(
        self,
        engine: Engine | None = None,
        kept: Kept | None = None,
        units: int | None = None,
        progress: Callable[[], None] = lambda: None,
    ) -> None:
        """`kept` holds answers: units in it are not judged again, and new answers are added.

        `progress` hears of each unit that somebody was asked about.
        """
        self.engine = engine or Here()
        self.kept = kept
        self.units = units or UNITS
        self._progress = progress

    def entries(
        self,
        assigned: Iterable[tuple[Annotator, Document | Entry] | tuple[Annotator, Document | Entry, Chosen]],
    ) -> Iterator[Entry]:
        """Each document with the judgments of the annotator that it is given to, in order.

        An annotator that could not judge to the end is an error, after what it did judge.
        """
        found: list[Judgment] = []
        last: _Part | None = None
        annotators: dict[int, Annotator] = {}
        for piece, results in self._done(self._pieces(assigned, annotators), in_order=True):
            heard = iter(results)
            for part in piece.parts:
                if part.thing is not None:
                    found += piece.work.heard(part.thing, next(heard))
                last = part
                if part.is_last and part.document is not None:
                    yield Entry(part.document.id, part.document, tuple(found))
                    found = []
        if last is not None and not last.is_last and last.document is not None:
            yield Entry(last.document.id, last.document, tuple(found))
        for annotator in annotators.values():
            if annotator.ended is not None:
                raise annotator.ended

    def judgments(
        self, annotator: Annotator, units: Iterable[Unit], *, in_order: bool = False
    ) -> Iterator[Judgment]:
        """What an annotator that is asked unit by unit says, as answers come or in the order of the units."""
        work = annotator.work()
        pieces = (_Piece(work, [_Part(unit, None, True)]) for unit in units)
        for piece, results in self._done(pieces, in_order=in_order):
            for part, result in zip(piece.parts, results, strict=True):
                yield from work.heard(part.thing, result)

    def _pieces(self, assigned: Iterable[Any], annotators: dict[int, Annotator]) -> Iterator[_Piece]:
        works: dict[int, Work[Any, Any]] = {}
        chunk: _Piece | None = None
        count = 0
        for annotator, item, *chosen in assigned:
            entry = _needed(item, annotator)
            if entry.document is None:
                continue
            annotators[id(annotator)] = annotator
            work = works.get(id(annotator)) or works.setdefault(id(annotator), annotator.work())
            if work.by_unit:
                yield from _by_unit(work, entry, annotator, chosen[0] if chosen else None)
                continue
            if chunk is not None and (chunk.work is not work or max(count, len(chunk.parts)) >= self.units):
                yield chunk
                chunk = None
            if chunk is None:
                chunk, count = _Piece(work, []), 0
            chunk.parts.append(_Part(entry, entry.document, True))
            count += sum(1 for _ in cases_of(entry, annotator.scheme))
        if chunk is not None:
            yield chunk

    def _done(self, pieces: Iterator[_Piece], *, in_order: bool) -> Iterator[tuple[_Piece, list[Any]]]:
        """The pieces and what came of them. An error is raised when its piece is the next."""
        waiting: list[_Begun] = []
        under_way: dict[Future[list[Any]], _Piece] = {}
        coming = next(pieces, None)
        while coming is not None or waiting:
            while coming is not None and not coming.work.is_over:
                limit = self.engine.room_for(coming.work)
                if len(under_way) >= limit or len(waiting) >= AHEAD * limit:
                    break
                if (future := self._known(coming)) is None:
                    future = self.engine.begin(coming.work, coming.things)
                    under_way[future] = coming
                waiting.append((coming, future))
                coming = next(pieces, None)
            if coming is not None and coming.work.is_over:
                coming = None
            is_ready = bool(_finished(waiting, under_way, in_order))
            done, _ = wait(under_way, timeout=0 if is_ready else None, return_when=FIRST_COMPLETED)
            for future in done:
                piece = under_way.pop(future)
                # A chunk that is about to be written need not be kept first.
                if piece.work.by_unit:
                    self._progress()
                if piece.work.by_unit or coming is not None or under_way:
                    self._keep(piece, future)
            ready = _finished(waiting, under_way, in_order)
            waiting = waiting[len(ready) :] if in_order else [one for one in waiting if one[1] in under_way]
            for piece, future in ready:
                yield piece, future.result()

    def _known(self, piece: _Piece) -> Future[list[Any]] | None:
        known = self.kept.find(piece.work, piece.things) if self.kept is not None and piece.things else None
        if known is None and piece.things:
            return None
        future: Future[list[Any]] = Future()
        future.set_result(known or [])
        return future

    def _keep(self, piece: _Piece, future: Future[list[Any]]) -> None:
        if self.kept is not None and future.exception() is None:
            self.kept.keep(piece.work, piece.things, future.result())


def _finished(
    waiting: list[_Begun], under_way: Collection[Future[list[Any]]], in_order: bool
) -> list[_Begun]:
    """Those that are done; in order, those before the first that is not."""
    if in_order:
        return list(takewhile(lambda one: one[1] not in under_way, waiting))
    return [one for one in waiting if one[1] not in under_way]


def _by_unit(work: Work[Any, Any], entry: Entry, annotator: Annotator, chosen: Chosen) -> Iterator[_Piece]:
    units = [
        case.unit
        for case in cases_of(entry, annotator.scheme)
        if chosen is None or case.unit.key.segment in chosen
    ]
    for place, unit in enumerate(units, 1):
        yield _Piece(work, [_Part(unit, entry.document, place == len(units))])
    if not units:
        yield _Piece(work, [_Part(None, entry.document, True)])


def _needed(item: Document | Entry, annotator: Annotator) -> Entry:
    """A document, and the judgments by which the annotator's guideline chooses what is judged."""
    if isinstance(item, Document):
        return Entry(item.id, item)
    earlier = annotator.scheme.target.scheme if annotator.scheme.target else None
    return Entry(
        item.id, item.document, tuple(judgment for judgment in item.judgments if judgment.scheme == earlier)
    )


ENDING = ".chunk"


class KeptChunks:
    """A folder beside the output. A chunk is known by a digest of the work and of what it was done to.

    So whatever changed since then, a document, the model or an option, is done anew, and all else is not.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def beside(cls, target: Path, number: int = 0) -> KeptChunks:
        """Those of an output; of a jury's each member has a number."""
        return cls(target.with_name(f"{_named(target, number)}.chunks"))

    def find(self, work: Work[Any, Any], things: Sequence[Any]) -> list[Any] | None:
        """What came out of that work before; None where it was not done, or the file is damaged."""
        if not self.folder.is_dir() or not work.can_travel:
            return None
        try:
            digest, _, content = self._path(work, things).read_bytes().partition(b"\n")
        except FileNotFoundError:
            return None
        if digest.decode(errors="replace") != _digest(content):
            return None
        found: list[Any] = decoder(work.gives).decode(content)
        return found

    def keep(self, work: Work[Any, Any], things: Sequence[Any], results: Sequence[Any]) -> None:
        """Keep what came out, where the work can be known again. It is on disk, whole, when this returns."""
        if not work.can_travel:
            return
        self.folder.mkdir(exist_ok=True)
        content = msgspec.json.encode(results, enc_hook=as_text)
        path = self._path(work, things)
        draft = path.with_suffix(f".{os.getpid()}")
        with draft.open("wb") as stream:
            stream.write(_digest(content).encode() + b"\n" + content)
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(path)

    def __len__(self) -> int:
        return len(list(self.folder.glob(f"*{ENDING}")))

    def remove(self) -> None:
        """Everything in it stands elsewhere now. Files that are not ours stay."""
        if self.folder.is_dir():
            for path in self.folder.iterdir():
                if len(path.stem) == len(_digest(b"")):
                    path.unlink(missing_ok=True)
            if not any(self.folder.iterdir()):
                self.folder.rmdir()

    def _path(self, work: Work[Any, Any], things: Sequence[Any]) -> Path:
        return self.folder / f"{_digest(work.digest.encode() + msgspec.json.encode(things))}{ENDING}"


def _named(target: Path, number: int) -> str:
    return f"{target.name}.{number}" if number else target.name


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


class Journal:
    """A file of judgments in the native format, one appended after the other: for works that go unit by unit."""

    def __init__(self, path: Path, wanted: Callable[[Judgment], bool] = lambda judgment: True) -> None:
        """`wanted`: which of the judgments count that stand there; others are passed over, and stay."""
        self.path = path
        self._wanted = wanted
        self.judgments: dict[UnitKey, Judgment] = {}
        """What was said last of each unit."""
        self._known: dict[tuple[UnitKey, Any], Judgment] = {}
        if path.exists():
            self._read()

    @classmethod
    def beside(cls, target: Path, number: int = 0) -> Journal:
        """That of an output; of a jury's each member has a number."""
        return cls(target.with_name(f"{_named(target, number)}.part.jsonl"))

    def find(self, work: Work[Any, Any], things: Sequence[Any]) -> list[Any] | None:
        """What was said of a unit, if it was told then what it is told now."""
        (unit,) = things
        judgment = self._known.get((unit.key, work.told(unit)))
        return None if judgment is None else [work.result(judgment)]

    def keep(self, work: Work[Any, Any], things: Sequence[Any], results: Sequence[Any]) -> None:
        """Keep the judgment, where there is one, or that the model will not answer."""
        for result in results:
            if (judgment := result.judgment or result.refusal) is not None:
                self.add(judgment)

    def add(self, judgment: Judgment) -> None:
        """Keep a judgment."""
        is_new = not self.path.exists()
        with self.path.open("ab") as stream:
            if is_new:
                stream.write(msgspec.json.encode(Line(lapsus=VERSION)) + b"\n")
            stream.write(msgspec.json.encode(Line(judgment=judgment)) + b"\n")
        self._note(judgment)

    def _note(self, judgment: Judgment) -> None:
        if judgment.answers:
            self.judgments[judgment.unit] = judgment
        self._known[judgment.unit, judgment.metadata.get("material")] = judgment

    def remove(self) -> None:
        """Everything in it stands elsewhere now."""
        self.path.unlink(missing_ok=True)

    def _read(self) -> None:
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        for number, raw in enumerate(whole.splitlines(), 1):
            try:
                line = decoder(Line).decode(raw)
            except msgspec.DecodeError as error:
                raise InputError(str(error), where=Notice("line", name=self.path, line=number)) from error
            if line.judgment is not None and self._wanted(line.judgment):
                self._note(line.judgment)
        if len(whole) < len(content):
            # A program that was killed leaves half a line; what comes next must not be glued to it.
            with self.path.open("r+b") as stream:
                stream.truncate(len(whole))
