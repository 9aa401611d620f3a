"""A bundle: the votes behind a report, its guideline and settings, and every figure that follows from them.

Whoever reads a paper can have all figures worked out again: `verify` says which of them differ.
"""

from __future__ import annotations

import hashlib
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from lapsus.analysis.agreement import agree
from lapsus.analysis.gold_standard import gold
from lapsus.errors import InputError
from lapsus.formats.jsonl import Jsonl
from lapsus.formats.sink import put_in_place
from lapsus.measures.bootstrap import USUAL, Bootstrap
from lapsus.model import Entry, Scheme
from lapsus.schemes import scheme_digest
from lapsus.text_files import refuse_pipe
from lapsus.version import __version__

VOTES, CONTENTS = "judgments.jsonl", "bundle.json"
_WORDS = ("signature", "notes", "data")
"""Figures have none of these in their names: signatures hold the version of the program, and are no figures."""


class Contents(msgspec.Struct, frozen=True):
    """What a bundle says of itself."""

    lapsus: str
    scheme: Scheme
    guideline: str
    """The digest of the guideline."""
    votes: str
    """The digest of the judgments."""
    method: str
    """How gold was made."""
    resamples: int
    seed: int
    figures: dict[str, float | int | str | None]


class Difference(msgspec.Struct, frozen=True):
    """A figure that is not what the bundle says."""

    figure: str
    stated: float | int | str | None
    found: float | int | str | None


class Verification(msgspec.Struct, frozen=True):
    """What came of working everything out again."""

    figures: int
    differences: tuple[Difference, ...]
    made_with: str
    """The version that made the bundle."""
    verified_with: str


def write_bundle(
    entries: Iterable[Entry],
    scheme: Scheme,
    path: Path,
    *,
    method: str = "majority",
    bootstrap: Bootstrap = USUAL,
    overwrite: bool = False,
) -> int:
    """Write judgments with their documents, and all figures; how many figures that are."""
    with tempfile.TemporaryDirectory() as folder:
        votes = Path(folder) / VOTES
        Jsonl().write(entries, votes)
        figures = _figures(votes, scheme, method, bootstrap)
        contents = Contents(
            __version__, scheme, scheme_digest(scheme), _digest(votes), method, bootstrap.resamples, bootstrap.seed,
            figures,
        )  # fmt: skip
        with put_in_place(path, overwrite=overwrite) as draft, zipfile.ZipFile(draft, "w") as packed:
            packed.writestr(CONTENTS, msgspec.json.format(msgspec.json.encode(contents), indent=1))
            packed.write(votes, VOTES, zipfile.ZIP_DEFLATED)
    return len(figures)


def verify(path: Path) -> Verification:
    """Work out every figure of a bundle from the votes in it."""
    refuse_pipe(path)
    with tempfile.TemporaryDirectory() as folder:
        try:
            with zipfile.ZipFile(path) as packed:
                contents = msgspec.json.decode(packed.read(CONTENTS), type=Contents)
                votes = Path(packed.extract(VOTES, folder))
        except (OSError, KeyError, zipfile.BadZipFile, msgspec.MsgspecError) as error:
            raise InputError("no-bundle", where=str(path), hint="lapsus-report-bundle-writes") from error
        found: dict[str, Any] = {"guideline": scheme_digest(contents.scheme), "votes": _digest(votes)}
        plan = Bootstrap(contents.resamples, contents.seed)
        found |= _figures(votes, contents.scheme, contents.method, plan)
    stated = {"guideline": contents.guideline, "votes": contents.votes, **contents.figures}
    differences = tuple(
        Difference(name, stated.get(name), found.get(name))
        for name in dict.fromkeys([*stated, *found])
        if not _same(stated.get(name), found.get(name))
    )
    return Verification(len(stated), differences, contents.lapsus, __version__)


def _figures(votes: Path, scheme: Scheme, method: str, bootstrap: Bootstrap) -> dict[str, Any]:
    """Shares, counts and coefficients with their intervals, and the gold of every question."""
    found = dict(_flat(agree(votes, scheme=scheme, bootstrap=bootstrap).data))
    for question, made in gold(votes, method=method, scheme=scheme).items():
        decided = sorted((unit, str(answer)) for unit, answer in made.by_unit().items())
        found[f"gold.{question}.decided"] = len(decided)
        found[f"gold.{question}.undecided"] = len(made.undecided)
        found[f"gold.{question}.answers"] = hashlib.sha256(msgspec.json.encode(decided)).hexdigest()
    return found


def _flat(data: Mapping[str, Any], before: str = "") -> Iterable[tuple[str, Any]]:
    for name, value in data.items():
        if name.startswith(_WORDS):
            continue
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        elif isinstance(value, list | tuple):
            yield from ((f"{before}{name}.{place}", one) for place, one in enumerate(value))
        else:
            yield f"{before}{name}", value


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= 1e-9 * max(1.0, abs(one))
    return bool(one == other)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
