"""`lapsus train`: a model from judged dialogues."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lapsus.cli.convert import DataLanguage, OnlyOption
from lapsus.cli.output import JsonOption, print_json, progress, remark
from lapsus.errors import LapsusError, UsageError
from lapsus.formats import read
from lapsus.formats.sink import put_in_place

if TYPE_CHECKING:
    from lapsus.annotators import Annotator

_STEPS = 100
"""Of the progress bar, whatever the method counts."""


def train_command(
    method: Annotated[str, typer.Argument(help="How to judge: crf, svm, encoder, …", metavar="METHOD")],
    data: Annotated[Path, typer.Argument(help="Judged dialogues: file, folder or zip.", metavar="DATA")],
    target: Annotated[Path, typer.Option("-o", "--out", help="The model's file.", metavar="MODEL")],
    only: OnlyOption = None,
    start: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="Go on from a model's file or a shipped model, where the method can.",
            metavar="MODEL",
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Seed of what is left to chance.", min=0, metavar="N")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="Set a parameter of the method; may be repeated.", metavar="KEY=VALUE"),
    ] = None,
    lang: DataLanguage = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is at MODEL.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Learn to judge from judged dialogues, and keep the model in a file."""
    from lapsus.annotators import go_on_from, make_annotator, training_data

    given = _settings(settings or []) | _seed(method, seed)
    annotator = go_on_from(start, method, given) if start else make_annotator(method, given)
    with put_in_place(target, overwrite=overwrite) as draft:
        reading = read(data, only=only, language=lang)
        if reading.recognised and not as_json:
            remark(f"{data} is read as {reading.format.name}")
        try:
            documents, votes = training_data(reading)
        except LapsusError as error:
            raise error.at(str(data)) from error
        with progress(f"fitting {method}", total=_STEPS) as step:
            learn = annotator.adapt if start else annotator.fit
            learn(documents, votes, _bar(step))
        annotator.called = target.stem
        annotator.save(draft)
    _report(annotator, target, as_json)


def _settings(texts: list[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"{text!r} sets nothing", hint="write it like --set degree=3")
        given[key.strip()] = value.strip()
    return given


def _seed(method: str, seed: int | None) -> dict[str, str]:
    from lapsus.annotators import METHODS

    if seed is None:
        return {}
    if "seed" not in METHODS.get(method).defaults():
        remark(f"{method} leaves nothing to chance: --seed changes nothing")
        return {}
    return {"seed": str(seed)}


def _bar(step: Callable[[], None]) -> Callable[[int, int], None]:
    """Progress of any length as steps of the bar."""
    shown = 0

    def show(done: int, total: int) -> None:
        nonlocal shown
        while shown < done * _STEPS // max(total, 1):
            step()
            shown += 1

    return show


def _report(annotator: Annotator, target: Path, as_json: bool) -> None:
    origin = annotator.origin_
    if origin is None:
        return
    if as_json:
        facts = {"documents": origin.documents, "units": origin.units, "votes": origin.votes}
        print_json(
            {
                "method": annotator.name,
                "parameters": annotator.parameters(),
                "out": str(target),
                **facts,
                "languages": origin.languages,
                "words": origin.words,
                "digest": origin.digest,
            }
        )
        return
    words = ", ".join(f"{language} by {way}" for language, way in origin.words.items())
    if words and not annotator.any_language:
        remark(f"words told apart: {words}")
    typer.echo(
        f"{annotator.name} learned from {origin.documents:,} documents, {origin.units:,} turns,"
        f" {origin.votes:,} votes → {target}"
    )
