"""Work on many things alike, in a form that another process can take over."""

import hashlib
import tempfile
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

import msgspec

from lapsus.annotators.base import Annotator
from lapsus.annotators.library import METHODS, load_model, make_annotator
from lapsus.annotators.optional_libraries import one_thread
from lapsus.errors import UsageError
from lapsus.model import Entry, Judgment, Scheme
from lapsus.version import __version__

T = TypeVar("T")
R = TypeVar("R")

KINDS = {
    "judge": "lapsus.annotators.bulk.work:JudgeDocuments",
    "ask": "lapsus.annotators.language_model.asking:AskUnits",
}
"""Where the kinds of work are defined."""


class Work(ABC, Generic[T, R]):
    """What is done to each of many things: documents, or single units of them.

    What comes out depends on the things that are given together and on nothing that was done before, so that it is
    the same wherever it is done.
    """

    kind: ClassVar[str]
    """Its name in KINDS."""
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
        return msgspec.msgpack.encode(_Packed(self.kind, __version__, self.settings()))

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


class _Packed(msgspec.Struct, frozen=True):
    kind: str
    version: str
    settings: bytes


def unpack(packed: bytes) -> Work[Any, Any]:
    """The work that another process sent."""
    found = msgspec.msgpack.decode(packed, type=_Packed)
    if found.version != __version__:
        raise UsageError(
            "node-cluster-lapsus",
            hint="install-same-lapsus-every",
            version=__version__,
            version2=found.version,
        )
    module, _, name = KINDS[found.kind].partition(":")
    kind: type[Work[Any, Any]] = getattr(import_module(module), name)
    return kind.restore(found.settings)


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
