"""Finished chunks on disk, so that a program that was killed goes on where it was."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from lapsus.annotators.bulk.work import Work
from lapsus.model.decoders import decoder

ENDING = ".chunk"


class KeptChunks:
    """A folder beside the output. A chunk is known by a digest of the work and of what it was done to.

    So whatever changed since then, a document, the model or an option, is done anew, and all else is not.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def beside(cls, target: Path) -> KeptChunks:
        """Those of an output."""
        return cls(target.with_name(f"{target.name}.chunks"))

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
        content = msgspec.json.encode(results)
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


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
