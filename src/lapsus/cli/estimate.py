"""`lapsus estimate`: shares and means from few people and a judge's many answers."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from lapsus.cli.convert import DataLanguage, OnlyOption
from lapsus.cli.output import JsonOption
from lapsus.cli.result_tables import (
    BySystem,
    CsvOption,
    LatexOption,
    QuestionOption,
    SchemeOption,
    announce_once,
    print_each_scheme,
)
from lapsus.cli.trust import JudgesOption, JuryOption
from lapsus.formats.remote import location


def estimate_command(
    data: Annotated[
        list[Path],
        typer.Argument(
            help="Judged documents: files, folders or zips.",
            metavar="DATA…",
            parser=location,
        ),
    ],
    judge: JudgesOption = None,
    jury: JuryOption = False,
    scheme: SchemeOption = None,
    question: QuestionOption = None,
    by: BySystem = None,
    only: OnlyOption = None,
    lang: DataLanguage = None,
    csv: CsvOption = False,
    latex: LatexOption = False,
    as_json: JsonOption = False,
) -> None:
    """Estimate shares of labels, means of scales and marks a text: judge alone, people alone, corrected."""
    from lapsus.analysis.estimate import estimate

    make = partial(
        estimate,
        *data,
        judges=judge or (),
        questions=question or (),
        by=by,
        jury=jury,
        only=only,
        language=lang,
        announce=announce_once(),
    )
    print_each_scheme(lambda under: make(scheme=under), scheme, as_json=as_json, csv=csv, latex=latex)
