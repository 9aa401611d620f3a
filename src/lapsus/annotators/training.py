"""Training: from judged data to a model, for Python and for `lapsus train`."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from lapsus.annotators.base import Annotator, Progress, unwatched
from lapsus.annotators.breakdown import SCHEME
from lapsus.annotators.library import METHODS, go_on_from, make_annotator
from lapsus.errors import InputError, LapsusError, UsageError
from lapsus.formats import EntryStream, read
from lapsus.formats.sink import put_in_place
from lapsus.kinds import countable
from lapsus.kinds.votes import collect_votes, scheme_votes
from lapsus.measures.scores.breakdown_labels import breakdown_votes
from lapsus.model import Document, Entry, Judgment, Scheme
from lapsus.model.votes import LabelVotes, Votes
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


def joined(entries: Iterable[Entry]) -> list[Entry]:
    """The entries, with judgments that stand apart, as in a table beside the dialogues, put to their documents."""
    whole: list[Entry] = []
    apart: defaultdict[str, list[Judgment]] = defaultdict(list)
    for entry in entries:
        if entry.document is not None:
            whole.append(entry)
        else:
            apart[entry.id] += entry.judgments
    found = [Entry(one.id, one.document, (*one.judgments, *apart.pop(one.id, ()))) for one in whole]
    return found + [Entry(id, None, tuple(judgments)) for id, judgments in apart.items()]


def training_data(entries: Iterable[Entry]) -> tuple[list[Document], LabelVotes]:
    """Dialogues and how people judged their turns for breakdown: what the challenge's methods are fitted on."""
    documents: list[Document] = []
    judgments: list[Judgment] = []
    for entry in joined(entries):
        if entry.document is not None:
            documents.append(entry.document)
            judgments += (judgment for judgment in entry.judgments if judgment.scheme == SCHEME)
    if not judgments:
        raise InputError("nothing-in-it-is-judged-under", hint="give-dialogues-breakdown-labels", id=SCHEME)
    return documents, breakdown_votes(collect_votes(judgments, load_scheme(SCHEME).questions[0]))


def without_dialogues() -> InputError:
    """What to say of a table of judgments: its rows have the text of judged turns only, so no dialogue is whole."""
    return InputError("holds-judgments-without-dialogues", hint="give-file-holds-both")


def documents_and_votes(entries: Iterable[Entry], scheme: Scheme) -> tuple[list[Entry], dict[str, Votes]]:
    """Documents and the votes on a scheme's questions: what `fit` takes.

    The entries keep only judgments under the scheme that this one goes on from.
    """
    kept: list[Entry] = []
    judgments: list[Judgment] = []
    lone = 0
    before = scheme.target.scheme if scheme.target else None
    for entry in joined(entries):
        if entry.document is not None:
            judgments += (judgment for judgment in entry.judgments if judgment.scheme == scheme.id)
            earlier = tuple(judgment for judgment in entry.judgments if judgment.scheme == before)
            kept.append(Entry(entry.id, entry.document, earlier))
        else:
            lone += any(judgment.scheme == scheme.id for judgment in entry.judgments)
    if not judgments and lone:
        raise without_dialogues()
    if not judgments:
        raise InputError("nothing-in-it-is-judged-under", hint="give-judged-documents", id=scheme.id)
    questions = countable(scheme.questions)
    return kept, {question.id: scheme_votes(judgments, scheme, question) for question in questions}
