"""Answers on disk, so that a program that was killed goes on where it was: chunks of documents, or single units."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from lapsus.annotators.bulk.run import Work
from lapsus.errors import InputError
from lapsus.formats.jsonl import VERSION, Line
from lapsus.model import Judgment, UnitKey
from lapsus.model.frozen import decoder
from lapsus.notices import Notice, as_text

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
