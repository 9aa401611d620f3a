"""`lapsus pair`: replies of two systems to the same context, side by side."""

from pathlib import Path

from lapsus.cli.output import remark
from lapsus.cli.result_tables import announce
from lapsus.errors import UsageError


def pair_command(logs: list[Path], out: Path, ask: list[str] | None = None, overwrite: bool = False) -> None:
    """Put replies of two systems to the same context side by side, to have them compared."""
    from lapsus.collect.pairing import asked, paired
    from lapsus.formats import convert, read
    from lapsus.model import Entry

    if ask is not None and len(set(ask)) < 2:
        raise UsageError("pair-two-systems", hint="pair-ask-two")
    if ask is None and len(logs) < 2:
        raise UsageError("pair-two-systems", hint="pair-two-logs")
    readings = [(path.stem, read(path)) for path in logs]
    for _, reading in readings:
        announce(reading)
    files = [
        (name, (entry.document for entry in reading if entry.document is not None))
        for name, reading in readings
    ]
    made = paired(files) if ask is None else asked((one for _, file in files for one in file), ask)
    done = convert((Entry(one.id, one) for one in made), out, "jsonl", overwrite=overwrite)
    if not done.documents:
        raise UsageError("pair-none", hint="pair-same-contexts")
    remark("pairs-written", count=done.documents, path=out)
