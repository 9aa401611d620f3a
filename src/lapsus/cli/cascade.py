"""`lapsus cascade`: a cheap judge for all, a dearer one for what it doubts, people for what the two dispute."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lapsus.cli.output import print_json, print_table, remark, say, word
from lapsus.cli.result_tables import announce
from lapsus.errors import UsageError
from lapsus.notices import Notice

if TYPE_CHECKING:
    from lapsus.analysis.cascade import Cascade


def cascade_command(
    data: list[Path],
    judge: list[str],
    doubt: float = 0.3,
    out: Path | None = None,
    scheme: str | None = None,
    only: str | None = None,
    lang: str | None = None,
    overwrite: bool = False,
    as_json: bool = False,
) -> None:
    """Say how far a cascade of judges is and what it cost, and write what its next stage has to judge."""
    from lapsus.analysis.cascade import cascade
    from lapsus.formats import convert
    from lapsus.formats.sink import check_place

    if out is not None:
        if out.suffix.lower() != ".jsonl":
            raise UsageError("only-jsonl-holds-units", where=str(out), hint="name-file-jsonl")
        check_place(out, overwrite=overwrite)
    told, entries = cascade(
        *data, judges=judge, scheme=scheme, doubt=doubt, only=only, language=lang, announce=announce
    )
    if out is not None:
        convert(entries, out, "jsonl", overwrite=overwrite)
    if as_json:
        print_json(told)
        return
    columns = ("stage", "by", "units", "judged", "settled", "tokens", "seconds")
    rows = [
        (word(one.stage), ", ".join(one.by) or "-", f"{one.asked:,}", f"{one.judged:,}", f"{one.settled:,}",
         f"{one.tokens:,}", "–" if one.seconds is None else f"{one.seconds:,.1f}")
        for one in told.stages
    ]  # fmt: skip
    print_table(columns, rows, numbers=columns[2:])
    if any(one.seconds is None for one in told.stages):
        remark("not-measured-lapsus-detect")
    _next(told, out)


def _next(told: Cascade, out: Path | None) -> None:
    if told.waits_for is None:
        say("all-units-settled", to=out, units=told.units)
        return
    say("units-wait", to=out, waiting=told.waiting, whom=_WHOM[told.waits_for])
    if out is not None and told.waits_for == "second":
        remark(
            f"lapsus detect {out} --with openai:MODEL --scheme {told.scheme} --endpoint URL -o second.jsonl"
        )
    elif out is not None:
        remark(f"lapsus campaign create NAME --scheme {told.scheme} --data {out}")


_WHOM = {"second": Notice("second-judge"), "people": Notice("people")}
