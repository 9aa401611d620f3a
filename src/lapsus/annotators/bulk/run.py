"""The one driver of judging: documents or units in, answers kept as they come, judgments out.

Detectors, trained judges and language models all go through it, here or on a cluster. What an annotator does with a
piece is its `work()`; where that is done is the engine's business; what was done before is found in `kept`.
"""

from __future__ import annotations

import hashlib
import tempfile
import threading
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import nullcontext
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, Self, TypeAlias, TypeVar

import msgspec

from lapsus.annotators.base import Annotator
from lapsus.annotators.cases import cases_of
from lapsus.annotators.library import METHODS, load_model, make_annotator
from lapsus.annotators.optional_libraries import one_thread
from lapsus.errors import UsageError
from lapsus.model import Document, Entry, Judgment, Scheme, Unit
from lapsus.version import __version__

T = TypeVar("T")
R = TypeVar("R")


class Work(ABC, Generic[T, R]):
    """What is done to each of many things: documents, or single units of them.

    What comes out depends on the things that are given together and on nothing that was done before, so that it is
    the same wherever it is done.
    """

    kind: ClassVar[str]
    """Its name, by which another process finds it."""
    takes: ClassVar[Any]
    """The type of what is given, as lists of records."""
    gives: ClassVar[Any]
    """The type of what comes out."""
    by_unit: ClassVar[bool] = False
    """Whether units are given one by one, each kept as soon as it is answered; else documents, many together."""
    at_once: int = 1
    """How many pieces of it one processor has under way: more than one where it mostly waits."""

    @abstractmethod
    def do(self, things: Sequence[T]) -> list[R]:
        """What is made of each thing, in order."""

    @abstractmethod
    def heard(self, thing: T, result: R) -> tuple[Judgment, ...]:
        """The judgments in what came out of a thing. Called once for each, by the thread that began the work."""

    def told(self, thing: T) -> str:
        """Of work that goes unit by unit: differs where something else is told about a unit."""
        raise NotImplementedError

    def result(self, judgment: Judgment) -> R:
        """Of work that goes unit by unit: what came out where a journal has this judgment."""
        raise NotImplementedError

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be begun."""
        return False

    @abstractmethod
    def settings(self) -> bytes:
        """All that decides about what comes out."""

    @classmethod
    @abstractmethod
    def restore(cls, settings: bytes) -> Self:
        """The same work in another process."""

    def pack(self) -> bytes:
        """The work itself, to be sent. Models are large, so that it is not held on to."""
        return msgspec.msgpack.encode(Packed(self.kind, __version__, self.settings()))

    @cached_property
    def digest(self) -> str:
        """Differs where anything does that decides about what comes out."""
        return hashlib.blake2b(self.pack(), digest_size=16).hexdigest()

    @cached_property
    def can_travel(self) -> bool:
        """Whether it can be sent, and known again: an annotator of somebody's own making may have no file."""
        try:
            return bool(self.digest)
        except UsageError:
            return False


class Packed(msgspec.Struct, frozen=True):
    """A work on its way to another process."""

    kind: str
    version: str
    settings: bytes


class JudgeDocuments(Work[Entry, tuple[Judgment, ...]]):
    """An annotator judges documents; each comes back as its judgments."""

    kind = "judge"
    takes = list[Entry]
    gives = list[tuple[Judgment, ...]]

    def __init__(self, annotator: Annotator) -> None:
        self.annotator = annotator

    def do(self, things: Sequence[Entry]) -> list[tuple[Judgment, ...]]:
        """The judgments about each document. Sums come out alike: nothing is remembered, and one thread adds up."""
        found: dict[str, list[Judgment]] = defaultdict(list)
        self.annotator.forget()
        with one_thread():
            for judgment in self.annotator.judge(things):
                found[judgment.document].append(judgment)
        if self.annotator.ended is not None:
            raise self.annotator.ended
        return [tuple(found.pop(entry.id, ())) for entry in things]

    def heard(self, thing: Entry, result: tuple[Judgment, ...]) -> tuple[Judgment, ...]:
        """They are what comes out."""
        return result

    def settings(self) -> bytes:
        """The model as its file holds it, or the method where there is nothing to learn."""
        one = self.annotator
        if one.method not in METHODS.names() or METHODS.get(one.method) is not type(one):
            raise UsageError("method-no-other-process", hint="judge-here-make-method", name=one.name)
        if not one.needs_fit:
            return msgspec.msgpack.encode(_Judge(one.name, one.method, one.parameters(), one.scheme))
        with tempfile.TemporaryDirectory(prefix="lapsus-") as room:
            path = Path(room) / "model"
            one.save(path)
            return msgspec.msgpack.encode(_Judge(one.name, model=path.read_bytes()))

    @classmethod
    def restore(cls, settings: bytes) -> Self:
        """With an annotator of its own."""
        found = msgspec.msgpack.decode(settings, type=_Judge)
        if not found.model:
            annotator = make_annotator(found.method, found.parameters, found.scheme)
            annotator.name = found.name
            return cls(annotator)
        with tempfile.TemporaryDirectory(prefix="lapsus-") as room:
            path = Path(room) / "model"
            path.write_bytes(found.model)
            return cls(load_model(path))


class _Judge(msgspec.Struct, frozen=True):
    """An annotator that is sent: its model's file, or else its method, parameters and guideline."""

    name: str
    method: str = ""
    parameters: dict[str, Any] = {}
    scheme: Scheme | None = None
    model: bytes = b""


UNITS = 256
"""Units of a chunk, or a few more: documents are not cut. Every engine has the same chunks, or bytes would differ."""
AHEAD = 4
"""How many times as many pieces as are under way may wait, finished, for one before them."""

Chosen: TypeAlias = frozenset[str | None] | None
"""The segments of a document that are to be judged; None: all that its guideline wants judged."""


class Engine(Protocol):
    """Does work."""

    def room_for(self, work: Work[Any, Any]) -> int:
        """How many pieces of some work it makes sense to have begun and not finished."""

    def begin(self, work: Work[T, R], things: Sequence[T]) -> Future[list[R]]:
        """Begin some work. What goes wrong in it is raised by the result."""


class Here:
    """This process: one chunk while the one before is looked at, or in threads where the work mostly waits."""

    def __init__(self) -> None:
        self._turn = threading.Lock()

    def room_for(self, work: Work[Any, Any]) -> int:
        """As many as the work has under way on one processor; of chunks one, and the next."""
        return work.at_once if work.by_unit else 2

    def begin(self, work: Work[T, R], things: Sequence[T]) -> Future[list[R]]:
        """Do it in a thread; a program that is ended does not wait for those that ask."""
        future: Future[list[R]] = Future()

        def do() -> None:
            try:
                with nullcontext() if work.by_unit else self._turn:
                    future.set_result(work.do(things))
            except BaseException as error:  # raised where the result is asked for, an interruption too
                future.set_exception(error)

        threading.Thread(target=do, daemon=work.by_unit, name="lapsus-judging").start()
        return future


class Kept(Protocol):
    """Answers on disk, so that a program that was killed goes on where it was."""

    def find(self, work: Work[Any, Any], things: Sequence[Any]) -> list[Any] | None:
        """What came out of that work before; None where it was not done."""

    def keep(self, work: Work[Any, Any], things: Sequence[Any], results: Sequence[Any]) -> None:
        """Keep what came out."""

    def remove(self) -> None:
        """Everything in it stands elsewhere now."""


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
