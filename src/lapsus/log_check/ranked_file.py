"""All turns of a log, ranked, in a file: CSV, JSON lines or Parquet. They are sorted on disk, not in memory."""

import csv
import importlib
import json
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from lapsus.errors import UsageError
from lapsus.formats.frame import Frame
from lapsus.log_check.finding import CUT, Finding
from lapsus.log_check.grouping import asked_before
from lapsus.log_check.ranking import DialogueFinding


class RankedTurn(NamedTuple):
    """A row: a turn with its place in the ranking."""

    rank: int
    dialogue: str
    turn: str
    system: str | None
    likely: bool
    score: float
    """What turns are ranked by, in log odds."""
    o: float
    t: float
    x: float
    """How people would probably judge it: no breakdown, possible breakdown, breakdown."""
    signs: str
    """The signs seen that weigh something, the heaviest first."""
    says: str
    """The heaviest sign in words."""
    dialogue_score: float
    asked: str
    """What the user said before."""
    text: str


_TYPES: Final[dict[str, type]] = {"rank": int, "likely": bool} | dict.fromkeys(
    ("score", "o", "t", "x", "dialogue_score"), float
)
_BUNDLE: Final = 10_000


def ranked_row(rank: int, finding: Finding, dialogue_score: float, cut: float, language: str) -> RankedTurn:
    """A finding as a row."""
    heavy = [one for one in finding.evidence if one.weight]
    return RankedTurn(
        rank,
        finding.document,
        finding.turn.id,
        finding.system,
        finding.is_likely(cut),
        round(finding.score, 4),
        round(finding.shares[0], 4),
        round(finding.shares[1], 4),
        round(finding.shares[2], 4),
        " ".join(dict.fromkeys(one.sign for one in heavy)),
        heavy[0].says(language) if heavy else "",
        round(dialogue_score, 4),
        asked_before(finding),
        finding.turn.text,
    )


class RankedFile:
    """Takes every turn of a log and writes them, the worst first."""

    def __init__(self, path: Path, language: str = "en") -> None:
        self._write = _writer(path)
        self._language, self.cut = language, CUT
        self._folder = tempfile.TemporaryDirectory(prefix="lapsus-ranked-")
        self._rows = sqlite3.connect(Path(self._folder.name) / "rows")
        self._rows.execute("create table turns (score real, row text)")

    def add(self, finding: Finding, dialogue: DialogueFinding) -> None:
        """Take a turn."""
        row = ranked_row(0, finding, dialogue.score, self.cut, self._language)
        # Halves of signs, which no file can hold, are shown as signs.
        text = json.dumps(row).encode("utf-8", "replace").decode()
        self._rows.execute("insert into turns values (?, ?)", (finding.score, text))

    def write(self, path: Path) -> None:
        """Write all turns."""
        self._write(self._ranked(), path)

    def close(self) -> None:
        """Remove what was kept for sorting."""
        self._rows.close()
        self._folder.cleanup()

    def _ranked(self) -> Iterator[RankedTurn]:
        found = self._rows.execute("select row from turns order by score desc, rowid")
        for rank, (text,) in enumerate(found, 1):
            yield RankedTurn(*json.loads(text))._replace(rank=rank)


def frame_of(rows: Iterable[RankedTurn]) -> Frame:
    """Rows as a table in memory."""
    return Frame.of_rows(rows, RankedTurn._fields, _TYPES)


def _writer(path: Path) -> Callable[[Iterator[RankedTurn], Path], None]:
    found = {".csv": _csv, ".jsonl": _jsonl, ".parquet": _parquet}.get(path.suffix.lower())
    if found is None:
        raise UsageError("ranking-not-written", hint="endings-csv-jsonl-parquet", suffix=path.suffix)
    if found is _parquet:
        importlib.import_module(
            "lapsus.formats.columnar"
        )  # says before anything is judged that it is missing
    return found


def _csv(rows: Iterator[RankedTurn], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        out = csv.writer(stream)
        out.writerow(RankedTurn._fields)
        out.writerows([_safe(cell) for cell in row] for row in rows)


def _safe(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell


def _jsonl(rows: Iterator[RankedTurn], path: Path) -> None:
    with path.open("w", encoding="utf-8") as stream:
        stream.writelines(json.dumps(row._asdict(), ensure_ascii=False) + "\n" for row in rows)


def _parquet(rows: Iterator[RankedTurn], path: Path) -> None:
    from lapsus.formats.columnar import RecordBatchReader, Table, write_parquet

    bundles = iter(lambda: list(islice(rows, _BUNDLE)), [])
    first = Table.from_arrow(frame_of(next(bundles, ())))
    batches = (batch for bundle in bundles for batch in Table.from_arrow(frame_of(bundle)).to_batches())
    reader = RecordBatchReader.from_batches(first.schema, chain(first.to_batches(), batches))
    write_parquet(reader, path, compression="zstd(3)")
