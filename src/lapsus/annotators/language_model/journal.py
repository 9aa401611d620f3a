"""What a model has said so far, on disk at once: answers that cost something are never lost, nor asked for twice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from lapsus.annotators.language_model.prompt import unit_digest
from lapsus.errors import InputError
from lapsus.formats.jsonl import VERSION, Line
from lapsus.model import Judgment, Unit, UnitKey
from lapsus.model.decoders import decoder


class Journal:
    """A file of judgments in the native format, one appended after the other."""

    def __init__(self, path: Path, wanted: Callable[[Judgment], bool] = lambda judgment: True) -> None:
        """`wanted`: which of the judgments count that stand there; others are passed over, and stay."""
        self.path = path
        self._wanted = wanted
        self.judgments: dict[UnitKey, Judgment] = {}
        if path.exists():
            self._read()

    def add(self, judgment: Judgment) -> None:
        """Keep a judgment."""
        is_new = not self.path.exists()
        with self.path.open("ab") as stream:
            if is_new:
                stream.write(msgspec.json.encode(Line(lapsus=VERSION)) + b"\n")
            stream.write(msgspec.json.encode(Line(judgment=judgment)) + b"\n")
        self.judgments[judgment.unit] = judgment

    def about(self, unit: Unit) -> Judgment | None:
        """What was said of a unit, if it was told then what it is told now."""
        judgment = self.judgments.get(unit.key)
        return judgment if judgment and judgment.metadata.get("material") == unit_digest(unit) else None

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
                raise InputError(str(error), where=f"{self.path}, line {number}") from error
            if line.judgment is not None and self._wanted(line.judgment):
                self.judgments[line.judgment.unit] = line.judgment
        if len(whole) < len(content):
            # A program that was killed leaves half a line; what comes next must not be glued to it.
            with self.path.open("r+b") as stream:
                stream.truncate(len(whole))
