"""`lapsus align`: fit a judge's prompt to people's answers, and say whether that helped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import to_builtins

from lapsus.cli.convert import DataLanguage, DocumentsArgument, OnlyOption
from lapsus.cli.database_option import DbOption, open_database
from lapsus.cli.language_model_options import (
    NOTHING_SAID,
    Asking,
    LanguageModelOptions,
    asks_language_models,
    facts,
)
from lapsus.cli.output import JsonOption, print_json, print_table, say, warn
from lapsus.errors import UsageError

if TYPE_CHECKING:
    from lapsus.annotators.language_model.align import Alignment
    from lapsus.annotators.language_model.aligned import Told


@asks_language_models("--words", without=("samples", "reasons", "aligned"))
def align_command(
    data: DocumentsArgument,
    judge: Annotated[str, typer.Option("--with", help="The model: PROVIDER:MODEL.", metavar="MODEL")],
    scheme: Annotated[str, typer.Option("--scheme", help="The guideline: a name or a file.", metavar="S")],
    target: Annotated[
        Path, typer.Option("-o", "--out", help="The aligned prompt (YAML).", metavar="FILE.yaml")
    ],
    units: Annotated[
        int, typer.Option("--units", help="Use so many judged units, a third each part.", min=30, metavar="N")
    ] = 150,
    shots: Annotated[
        int, typer.Option("--shots", help="So many examples in the prompt.", min=1, max=50, metavar="N")
    ] = 6,
    draw: Annotated[int, typer.Option("--draw", help="Seed of the three parts.", metavar="N")] = 0,
    asking: LanguageModelOptions = NOTHING_SAID,
    campaign: Annotated[
        str | None,
        typer.Option("--campaign", help="Show the result on this campaign's judges page.", metavar="NAME"),
    ] = None,
    db: DbOption = None,
    only: OnlyOption = None,
    lang: DataLanguage = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is at FILE.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Fit a language model's prompt to people's answers, and say by documents kept apart whether that helped."""
    from lapsus.annotators.language_model.align import align
    from lapsus.annotators.language_model.aligned import aligned_yaml
    from lapsus.annotators.library import OPENAI, is_language_model
    from lapsus.formats.sink import check_place, put_in_place

    if not is_language_model(judge):
        raise UsageError("align-language-models", hint="with-model", openai=OPENAI)
    check_place(target, overwrite=overwrite, source=data if isinstance(data, Path) else None)
    kept = target.with_name(f"{target.name}.part.jsonl")
    with Asking(asking, [judge]) as talk:
        found = align(
            data,
            judge,
            scheme=scheme,
            units=units,
            shots=shots,
            draw=draw,
            kept=kept,
            only=only,
            language=lang,
            stop=talk.stop,
            leave=talk.leave,
            progress=talk.step,
            **asking.how,
        )
    told = found.aligned.told if found.aligned is not None else None
    if found.aligned is not None:
        with put_in_place(target, overwrite=overwrite) as draft:
            draft.write_text(aligned_yaml(found.aligned), encoding="utf-8")
    if campaign is not None and told is not None:
        with open_database(db) as store:
            store.audit.aligned(campaign, {"judge": told.model, "told": to_builtins(told)})
    for path in (kept, kept.with_suffix(".clauses")):
        path.unlink(missing_ok=True)
    if as_json:
        print_json({"tried": {one.name: one.agreement for one in found.tried}, "told": told,
                    **facts(talk.waiting[0].model)})  # fmt: skip
    else:
        talk.tell()
        _tell(found, told, target)
    if told is None:
        raise typer.Exit(1)


def _tell(found: Alignment, told: Told | None, target: Path) -> None:
    columns = ("addition", "clauses", "examples", "agreement")
    tried = [
        (
            one.name,
            str(len(one.aligned.clauses) if one.aligned else 0),
            str(len(one.aligned.examples) if one.aligned else 0),
            f"{one.agreement:.3f}",
        )
        for one in found.tried
    ]
    print_table(columns, tried, numbers=columns[1:])
    if told is None:
        warn("align-nothing-better")
        return
    shown = ("kept apart", "agreement", "interval")
    figures = (
        ("plain prompt", told.before),
        ("aligned prompt", told.after),
        ("difference", told.difference),
    )
    apart = [(name, f"{one.value:.3f}", f"[{one.low:.2f}, {one.high:.2f}]") for name, one in figures]
    print_table(shown, apart, numbers=shown[1:])
    outcome = {"helped": "align-helped", "harmed": "align-harmed", "unsure": "align-unsure"}[told.outcome]
    say(outcome, to=target, units=told.units, documents=told.documents)
