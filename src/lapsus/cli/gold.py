"""`lapsus gold`: put votes together."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from lapsus.cli.output import print_json, print_table, say, warn
from lapsus.cli.result_tables import announce, tell_broken

if TYPE_CHECKING:
    from lapsus.measures.gold import Gold
    from lapsus.measures.gold.result import LabelRates

SHOWN = 20
"""How many undecided units are listed."""


def gold_command(
    data: list[Path],
    target: Path,
    method: str = "majority",
    threshold: float | None = None,
    scheme: str | None = None,
    question: list[str] | None = None,
    only: str | None = None,
    drop_broken: bool = False,
    to_format: str | None = None,
    lossy: bool = False,
    overwrite: bool = False,
    as_json: bool = False,
) -> None:
    """Put the annotators' votes together and write the result as one more annotator's judgments."""
    from lapsus.analysis.gold_standard import gold_entries
    from lapsus.formats import convert

    made, entries = gold_entries(
        data,
        method=method,
        threshold=threshold,
        scheme=scheme,
        questions=question or (),
        only=only,
        drop_broken=drop_broken,
        announce=announce,
    )
    done = convert(entries, target, to_format, lossy=lossy, overwrite=overwrite)
    for loss, count in done.losses.items():
        warn("does-not-carry-documents", name=done.to.name, reason=loss.what, count=count)
    tell_broken(made.notes)
    if as_json:
        gold = {question: _summary(one) for question, one in made.gold.items()}
        print_json({"out": str(target), "broken": made.broken, "gold": gold})
        return
    for asked, one in made.gold.items():
        say(
            "units-decided",
            asked=asked,
            count=len(one.by_unit()),
            count2=len(one.units),
            method=one.method,
            target=target,
        )
        if one.note:
            warn(one.note)
        typer.echo(f"  {one.signature}")
        tell_undecided(one)
        if one.reliability:
            _print_annotators(one)


def tell_undecided(made: Gold) -> None:
    """List the units on which no answer that the guideline allows has enough support."""
    if not made.undecided:
        return
    many = len(made.undecided)
    units = "1 unit stays" if many == 1 else f"{many:,} units stay"
    warn("undecided-no-answer-guideline", units=units)
    for unit in made.undecided[:SHOWN]:
        place = unit.document if unit.segment is None else f"{unit.document}, {unit.segment}"
        say("undecided", place=place)
    if (more := len(made.undecided) - SHOWN) > 0:
        say("more-json-lists", more=more)


def _print_annotators(made: Gold) -> None:
    """Each annotator's reliability and, where the method tells, sensitivity / specificity of each label.

    The least informed first: the reliability alone hides what is done to rare labels.
    """
    from lapsus.measures.gold.result import informedness

    rates = made.details.get("rates", {})
    ordered = sorted(
        made.reliability.items(), key=lambda pair: informedness(rates[pair[0]]) if rates else pair[1]
    )
    rows = [(who, f"{trust:.3f}", *_rates(rates.get(who, {}))) for who, trust in ordered]
    columns = ("annotator", "reliability", *(made.labels if rates else ()))
    print_table(columns, rows, numbers=columns[1:])
    if rates:
        say("label-sensitivity-specificity")


def _rates(by_label: Mapping[str, LabelRates]) -> list[str]:
    return [f"{one.sensitivity:.2f} / {one.specificity:.2f}" for one in by_label.values()]


def _summary(made: Gold) -> dict[str, Any]:
    return {
        "method": made.method,
        "signature": made.signature,
        "units": len(made.units),
        "decided": len(made.by_unit()),
        "reliability": dict(made.reliability),
        "rates": {
            who: {label: one._asdict() for label, one in rates.items()}
            for who, rates in made.details.get("rates", {}).items()
        },
        "undecided": [unit._asdict() for unit in made.undecided],
        "note": made.note,
    }
