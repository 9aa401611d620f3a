"""`lapsus train`: a model from judged documents."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from lapsus.cli.output import in_words, print_json, progress, remark, say
from lapsus.cli.result_tables import announce, in_readers_words
from lapsus.errors import UsageError
from lapsus.formats import EntryStream
from lapsus.notices import Notice

if TYPE_CHECKING:
    from lapsus.annotators import Annotator

_STEPS = 100
"""Steps of the progress bar; what a method counts is scaled to them."""


def train_command(
    method: str,
    data: list[Path],
    target: Path,
    scheme: str | None = None,
    only: str | None = None,
    start: str | None = None,
    seed: int | None = None,
    settings: list[str] | None = None,
    encoder: str | None = None,
    tune: bool = False,
    lang: str | None = None,
    overwrite: bool = False,
    as_json: bool = False,
) -> None:
    """Learn to judge from judged documents, and keep the model in a file."""
    from lapsus.annotators import train

    with progress(Notice("fitting", method=method), total=_STEPS) as step:
        annotator = train(
            method,
            data,
            scheme=scheme,
            out=target,
            start=start,
            only=only,
            language=lang,
            overwrite=overwrite,
            progress=_bar(step),
            announce=_silent if as_json else announce,
            **_settings(settings or []) | _seed(method, seed) | _encoder(encoder, tune),
        )
    _report(annotator, target, as_json)


def _silent(reading: EntryStream) -> None:
    """Announce nothing, for --json."""


def _settings(texts: list[str]) -> dict[str, str]:
    """The parameters given by --set, as text: the method reads and checks them."""
    given: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise UsageError("sets-nothing", hint="write-like-set-degree", text=text)
        given[key.strip()] = value.strip()
    return given


def _encoder(encoder: str | None, tune: bool) -> dict[str, str]:
    given = {} if encoder is None else {"encoder": encoder}
    return {**given, "tune": "true"} if tune else given


def _seed(method: str, seed: int | None) -> dict[str, str]:
    """The parameter given by --seed; none, with a remark, where the method has none."""
    from lapsus.annotators import METHODS

    if seed is None:
        return {}
    if "seed" not in METHODS.get(method).defaults():
        remark("leaves-nothing-chance-seed", method=method)
        return {}
    return {"seed": str(seed)}


def _bar(step: Callable[[], None]) -> Callable[[int, int], None]:
    """A method's progress (done, total) as steps of a bar with `_STEPS`."""
    shown = 0

    def show(done: int, total: int) -> None:
        nonlocal shown
        while shown < done * _STEPS // max(total, 1):
            step()
            shown += 1

    return show


def _report(annotator: Annotator, target: Path, as_json: bool) -> None:
    """Print what it learned from, and its own account of how well."""
    origin = annotator.origin_
    if origin is None:
        return
    if as_json:
        facts = {"documents": origin.documents, "units": origin.units, "votes": origin.votes}
        print_json(
            {
                "method": annotator.method,
                "scheme": {"id": annotator.scheme.id, "version": annotator.scheme.version},
                "parameters": annotator.parameters(),
                "out": str(target),
                **facts,
                "languages": origin.languages,
                "words": origin.words,
                "digest": origin.digest,
                **annotator.report(),
            }
        )
        return
    words = ", ".join(f"{language} by {way}" for language, way in origin.words.items())
    if words and not annotator.any_language:
        remark("words-told-apart", words=words)
    things = Notice("texts" if annotator.scheme.unit.role == "document" else "turns-many")
    say(
        "learned-documents-votes",
        method=annotator.method,
        documents=origin.documents,
        units=origin.units,
        things=things,
        votes=origin.votes,
        target=target,
    )
    if told := annotator.account():
        typer.echo(
            "\n"
            + "\n".join(
                in_words(one) if isinstance(one, str) else in_readers_words(one).to_text().rstrip("\n")
                for one in told
            )
        )
