"""Training: from judged data to a model, for Python and for `lapsus train`."""

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from lapsus.annotators.base import Annotator
from lapsus.annotators.entries import documents_and_votes
from lapsus.annotators.library import METHODS, go_on_from, make_annotator
from lapsus.annotators.progress import Progress, unwatched
from lapsus.errors import InputError, LapsusError, UsageError
from lapsus.formats import EntryStream, read
from lapsus.formats.sink import put_in_place
from lapsus.model import Entry, Scheme
from lapsus.notices import Notice
from lapsus.schemes import AnyScheme, given_schemes, load_scheme


def train(
    method: str,
    data: Any,
    *,
    scheme: AnyScheme | None = None,
    out: Path | str | None = None,
    start: Path | str | None = None,
    only: str | None = None,
    language: str | None = None,
    overwrite: bool = False,
    progress: Progress = unwatched,
    announce: Callable[[EntryStream], None] = lambda reading: None,
    **settings: Any,
) -> Annotator:
    """A model of a method, learned from judged data: a path, entries in memory or a long table.

    `scheme` is a guideline, its name or file; it may be left out where the data is judged under one alone. `out` is
    the model's file; `start` a model to go on from. Settings are parameters of the method.
    """
    target = Path(out) if out is not None else None
    first = go_on_from(start, method, settings) if start else None
    with put_in_place(target, overwrite=overwrite) if target else nullcontext() as draft:
        reading = read(data, only=only, language=language)
        announce(reading)
        try:
            asked = None if scheme is None else load_scheme(scheme)
            with given_schemes([asked] if asked else ()):
                entries = list(reading)
            guideline = asked or _scheme(METHODS.get(method), entries)
            annotator = first or make_annotator(method, settings, guideline)
            lesson = documents_and_votes(entries, annotator.scheme)
        except LapsusError as error:
            raise error.at(reading.source.shown) if isinstance(error, InputError) else error from error
        del entries
        (annotator.adapt if start else annotator.fit)(*lesson, progress)
        if target and draft:
            annotator.name = target.stem
            annotator.save(draft)
    return annotator


def _scheme(kind: type[Annotator], entries: Iterable[Entry]) -> Scheme:
    """The guideline to learn where none is asked for: the only one the method knows or the data is judged under."""
    if kind.made_for is not None:
        return load_scheme(kind.made_for)
    found = Counter(judgment.scheme for entry in entries for judgment in entry.judgments)
    if len(found) > 1:
        raise UsageError("judged-under-several-schemes", hint="say-scheme", schemes=", ".join(found))
    if not found:
        raise InputError("nothing-judged", hint="give-judged-documents")
    name = next(iter(found))
    try:
        return load_scheme(name)
    except UsageError as error:
        hint = Notice("your-own-say-scheme", name=name)
        raise UsageError("scheme-not-installed", hint=hint, name=name) from error
