"""Programs judge a campaign's open units in batches; answers are stored as they come."""

import threading
import time
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final

import msgspec

from lapsus.annotators import Annotator
from lapsus.annotators.bulk import Run
from lapsus.annotators.language_model import LanguageModel
from lapsus.errors import UsageError
from lapsus.model import Entry
from lapsus.notices import Notice
from lapsus.store import Store
from lapsus.store.records import Person

DOCUMENTS: Final = 5
"""Documents that a detector judges between two looks whether it was stopped."""
ANSWERS: Final = 5
"""Answers of a language model that are committed together: few, since each took its time."""


def judge_campaign(
    store: Store,
    campaign: str,
    program: Person,
    annotator: Annotator,
    *,
    stop: threading.Event,
    by: int | None = None,
    progress: Callable[[], object] = lambda: None,
) -> int:
    """Have a program judge what it has not judged yet; how many judgments were kept.

    Units judged under the same name meanwhile stand. A language model is asked about open units only; `progress` hears
    of each, and of each document where a detector judges. Why one could not go on is in its `ended`.
    """
    must_go_on(store, campaign, program.id, program.name, annotator)
    if isinstance(annotator, LanguageModel):
        many, entries = ANSWERS, _asked(store, campaign, program, annotator, progress)
    else:
        many, entries = DOCUMENTS, _detected(store, campaign, program, annotator, stop, progress)
    return sum(store.programs.add_judgments(campaign, program, entries, by=by, at_a_time=many, once=True))


def must_go_on(store: Store, campaign: str, program: int, name: str, annotator: Annotator) -> None:
    """Raise if a language model has judged under that name with other settings."""
    if not isinstance(annotator, LanguageModel):
        return
    before = store.programs.metadata_of(campaign, program)
    if before is not None and (others := annotator.differences(before)):
        raise UsageError(
            "judged-here-another",
            where=Notice("campaign", campaign=campaign),
            hint="go-same-options-add",
            name=name,
            others=", ".join(others),
        )


def _asked(
    store: Store, campaign: str, program: Person, model: LanguageModel, progress: Callable[[], object]
) -> Iterator[Entry]:
    for judgment in model.judge_units(store.programs.units_for(campaign, program.id)):
        progress()
        yield Entry(judgment.document, None, (judgment,))


def _detected(
    store: Store,
    campaign: str,
    program: Person,
    annotator: Annotator,
    stop: threading.Event,
    progress: Callable[[], object],
) -> Iterator[Entry]:
    """Documents with judgments and the time that each took: some were made at once, so each took its share."""
    documents = store.programs.documents_for(campaign, program.id)
    while not stop.is_set() and (some := list(islice(documents, DOCUMENTS))):
        begun = time.monotonic()
        entries = list(Run().entries((annotator, document) for document in some))
        many = sum(len(entry.judgments) for entry in entries)
        each = round((time.monotonic() - begun) / max(many, 1), 4)
        for entry in entries:
            progress()
            timed = (msgspec.structs.replace(judgment, seconds=each) for judgment in entry.judgments)
            yield Entry(entry.id, entry.document, tuple(timed))
