"""`lapsus plan`: how many units people should judge, and which."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lapsus.cli.convert import DataLanguage, OnlyOption
from lapsus.cli.output import JsonOption, in_words, print_json, print_table, remark, say, warn, word
from lapsus.cli.result_tables import QuestionOption, SchemeOption, announce
from lapsus.errors import UsageError
from lapsus.formats.remote import location

if TYPE_CHECKING:
    from lapsus.analysis.plan import SamplingPlan, Wanted
    from lapsus.model import Document


def plan_command(
    data: Annotated[
        list[Path],
        typer.Argument(
            help="Documents that a judge judged: files, folders or zips.",
            metavar="DATA…",
            parser=location,
        ),
    ],
    judge: Annotated[str | None, typer.Option("--judge", help="The judge.", metavar="NAME")] = None,
    within: Annotated[
        float | None,
        typer.Option("--within", help="Until the corrected interval is ± this.", min=0.001, metavar="X"),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(
            "--epsilon", help="Until the test could pass at this epsilon.", min=0.01, max=0.99, metavar="E"
        ),
    ] = None,
    people: Annotated[
        int, typer.Option("--people", help="How many people judge each unit.", min=1, metavar="N")
    ] = 3,
    units: Annotated[
        int | None, typer.Option("--units", help="Draw so many, whatever the goals say.", min=1, metavar="N")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="Write the drawn units: SAMPLE.jsonl.", metavar="SAMPLE"),
    ] = None,
    scheme: SchemeOption = None,
    question: QuestionOption = None,
    label: Annotated[
        str | None, typer.Option("--label", help="Plan the interval of this label only.", metavar="ID")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the draw.", min=0, metavar="N")] = 0,
    only: OnlyOption = None,
    lang: DataLanguage = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is at SAMPLE.")] = False,
    as_json: JsonOption = False,
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
