"""`lapsus probe`: does a language model agree with itself?"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Annotated, cast

import typer

from lapsus.cli.convert import DataLanguage, DocumentsArgument, OnlyOption
from lapsus.cli.language_model_options import (
    NOTHING_SAID,
    Asking,
    LanguageModelOptions,
    asks_language_models,
)
from lapsus.cli.output import JsonOption, print_json, print_table
from lapsus.errors import InputError, UsageError

if TYPE_CHECKING:
    from lapsus.annotators.language_model import LanguageModel
    from lapsus.annotators.language_model.probes import Probed
    from lapsus.model import Scheme


@asks_language_models("--words", without=("samples", "reasons"))
def probe_command(
    data: DocumentsArgument,
    judge: Annotated[str, typer.Option("--with", help="The model: openai:MODEL.", metavar="MODEL")],
    scheme: Annotated[str, typer.Option("--scheme", help="The guideline: a name or a file.", metavar="S")],
    units: Annotated[int, typer.Option("--units", help="Ask about so many units.", min=1, metavar="N")] = 50,
    asking: LanguageModelOptions = NOTHING_SAID,
    only: OnlyOption = None,
    lang: DataLanguage = None,
    as_json: JsonOption = False,
) -> None:
    """Ask a language model again, with labels turned round and with a longer context: does it agree with itself?"""
    from lapsus import model
    from lapsus.annotators import find_annotator
    from lapsus.annotators.detection import Waiting
    from lapsus.annotators.language_model.probes import PROBES, probe
    from lapsus.annotators.library import OPENAI, is_language_model
    from lapsus.formats import read
    from lapsus.schemes import load_scheme

    if not is_language_model(judge):
        raise UsageError("detectors-always-answer-same", hint="with-model", openai=OPENAI)
    guideline = load_scheme(scheme)
    reading = read(data, only=only, language=lang)
    documents = (entry.document for entry in reading if entry.document is not None)
    chosen = list(islice((unit for one in documents for unit in model.units(one, guideline.unit)), units))
    if not chosen:
        raise InputError("nothing-in-it-is-judged-under", where=str(data), id=guideline.id)

    def make(asked: Scheme) -> LanguageModel:
        return cast("LanguageModel", find_annotator(judge, asked, stop=talk.stop, **asking.how))

    with Asking(asking, [judge]) as talk:
        talk.leave([Waiting(make(guideline), len(chosen) * (1 + len(PROBES)), 0, None)])
        found = probe(make, guideline, chosen)
    if as_json:
        print_json(found)
        return
    _tell(found)


def _tell(found: list[Probed]) -> None:
    columns = ("probe", "question", "units", "same", "share")
    rows = [
        (
            one.probe,
            one.question,
            f"{one.units:,}",
            f"{one.same:,}",
            "-" if one.share is None else f"{one.share:.3f}",
        )
        for one in found
    ]
    print_table(columns, rows, numbers=columns[2:])
