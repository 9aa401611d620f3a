"""Looking over chat logs and pairs of data and text, for Python and for `lapsus check`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from lapsus.annotators import Annotator, detect, training_data
from lapsus.annotators.breakdown import SCHEME
from lapsus.annotators.bulk import Engine, KeptChunks
from lapsus.annotators.library import find_annotator
from lapsus.errors import UsageError
from lapsus.formats import EntryStream, read
from lapsus.log_check import pair_ranking
from lapsus.log_check.guideline_check import GuidelineCheck, check_answers
from lapsus.log_check.pair_ranking import PairCheck, check_pairs, is_pair
from lapsus.log_check.ranking import TOP, LogCheck, check_entries
from lapsus.model import Entry, Scheme


def check(
    data: Any,
    *,
    model: Annotator | Path | str | None = None,
    profile: str | None = None,
    adapt: Any = None,
    top: int = TOP,
    only: str | None = None,
    language: str | None = None,
    engine: Engine | None = None,
    beside: Path | None = None,
    tell: Callable[[Annotator], None] = lambda annotator: None,
    announce: Callable[[EntryStream], None] = lambda reading: None,
    progress: Callable[[], None] = lambda: None,
) -> LogCheck | PairCheck | GuidelineCheck:
    """The turns of chat logs after which a dialogue is likely to break down, the worst first, with evidence.

    Where the first document is data with a text that was made from it: the texts that agree least with their data,
    with marks on what they leave out, add and repeat. Where the model judges under another guideline: how often each
    answer is given, and the units that are most surely judged otherwise than usual.

    `data` is a path, entries in memory or a long table; `model` as `lapsus.detect` takes it. `adapt` is judged data,
    in the same forms, that the model is brought closer to. `engine` is where it is judged, here by default. Where the
    result is to be written to a file, `beside` names it: finished chunks are kept there until all is judged.
    `to_text()` and `to_html()` of the result show it.
    """
    reading = read(data, only=only, language=language)
    of_pairs = holds_pairs(reading)
    if of_pairs and adapt is not None:
        raise UsageError(
            "pairs of data and text are not adapted to", hint="`lapsus train triples` learns from marks"
        )
    judge = model if isinstance(model, Annotator) or model is None else find_annotator(str(model))
    other = _other_guideline(judge)
    if other is not None and adapt is not None:
        raise UsageError(
            f"a model under {other.id!r} is not adapted",
            hint="`lapsus train judge` learns from your judgments",
        )
    own = training_data(read(adapt, language=language)) if adapt is not None else None
    found = detect(
        reading,
        model=judge,
        scheme=other or (pair_ranking.SCHEME if of_pairs else SCHEME),
        profile=profile,
        own=own,
        engine=engine,
        tell=tell,
        announce=announce,
    )
    kept = KeptChunks.beside(beside) if beside is not None else None
    entries = _watched(found.entries(kept), progress)
    checked: LogCheck | PairCheck | GuidelineCheck
    if other is not None:
        checked = check_answers(entries, other, top)
    else:
        checked = check_pairs(entries, top) if of_pairs else check_entries(entries, top)
    if kept is not None:
        kept.remove()
    checked.by, checked.reading = ", ".join(found.judges.names), found.reading
    return checked


def _other_guideline(judge: Annotator | None) -> Scheme | None:
    """The guideline of a model, where it is none of the two that have a report of their own."""
    try:
        found = judge.scheme if judge is not None else None
    except UsageError:
        return None  # it takes any, and was given none
    return found if found is not None and found.id not in (SCHEME, pair_ranking.SCHEME) else None


def holds_pairs(reading: EntryStream) -> bool:
    """Whether the first document is a pair of data and text."""
    first = next(iter(reading), None)
    return first is not None and first.document is not None and is_pair(first.document)


def _watched(entries: Iterable[Entry], progress: Callable[[], None]) -> Iterator[Entry]:
    for entry in entries:
        progress()
        yield entry
