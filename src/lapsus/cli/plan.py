"""`lapsus plan`: how many units people should judge, and which."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from lapsus.cli.output import in_words, print_json, print_table, remark, say, warn, word
from lapsus.cli.result_tables import announce
from lapsus.errors import UsageError

if TYPE_CHECKING:
    from lapsus.analysis.plan import SamplingPlan, Wanted
    from lapsus.model import Document


def plan_command(
    data: list[Path],
    judge: str | None = None,
    within: float | None = None,
    epsilon: float | None = None,
    people: int = 3,
    units: int | None = None,
    out: Path | None = None,
    scheme: str | None = None,
    question: list[str] | None = None,
    label: str | None = None,
    seed: int = 0,
    only: str | None = None,
    lang: str | None = None,
    overwrite: bool = False,
    as_json: bool = False,
) -> None:
    """Say how many units people should judge until an interval is narrow or a judge can pass, and draw them."""
    from lapsus.analysis.plan import plan_units
    from lapsus.formats.sink import check_place

    if out is not None:
        if out.suffix.lower() != ".jsonl":
            raise UsageError("only-jsonl-holds-each", where=str(out), hint="name-file-jsonl")
        check_place(out, overwrite=overwrite)
    plan, documents = plan_units(
        *data,
        judge=judge,
        scheme=scheme,
        questions=question or (),
        label=label,
        within=within,
        epsilon=epsilon,
        people=people,
        units=units,
        seed=seed,
        only=only,
        language=lang,
        announce=announce,
    )
    if out is not None:
        _write(documents, out, overwrite)
    if as_json:
        print_json(
            {**{name: getattr(plan, name) for name in plan.__struct_fields__}, "out": out and str(out)}
        )
        return
    _tell(plan)
    if out is not None:
        say("units-2", units=plan.units, out=out)
        remark(f"lapsus campaign create NAME --scheme {plan.scheme} --data {out} --per-unit {plan.people}")


def _write(documents: Iterable[Document], out: Path, overwrite: bool) -> None:
    from lapsus.formats import convert
    from lapsus.model import Entry

    convert((Entry(document.id, document) for document in documents), out, "jsonl", overwrite=overwrite)


def _tell(plan: SamplingPlan) -> None:
    columns = ("goal", "question", "units", "from")
    rows = [
        (_goal(one), one.question, _units(one), word("people" if one.from_people else "judge"))
        for one in plan.goals
    ]
    print_table(columns, rows, numbers=("units",))
    for why in _reasons(plan):
        warn("will-not-do", why=why)
    typer.echo("")
    drawn = [
        (_stratum(one.name), f"{one.units:,}", f"{one.drawn:,}", f"{one.weight:.2f}") for one in plan.strata
    ]
    print_table(
        ("stratum", "units", "drawn", "each stands for"), drawn, numbers=("units", "drawn", "each stands for")
    )
    say(
        "units-judged-people-each",
        units=plan.units,
        population=plan.population,
        judge=plan.judge,
        people=plan.people,
    )
    wanted = max((one.units for one in plan.goals if one.units is not None), default=0)
    if wanted > plan.population:
        warn("goals-take-units-judged", wanted=wanted, judge=plan.judge, population=plan.population)


def _stratum(name: str) -> str:
    system, comma, doubt = name.rpartition(", ")
    return f"{system}{comma}{word(doubt)}"


def _goal(one: Wanted) -> str:
    if one.goal == "test":
        return in_words("pass", epsilon=one.epsilon)
    return f"{one.label or word('mean')} ± {one.within or 0:g}"


def _units(one: Wanted) -> str:
    return word("will not do") if one.units is None else f"{one.units:,}"


def _reasons(plan: SamplingPlan) -> Iterable[str]:
    return dict.fromkeys(one.why for one in plan.goals if one.why)
