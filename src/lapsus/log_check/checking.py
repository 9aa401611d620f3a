"""Looking over chat logs and pairs of data and text, for Python and for `lapsus check`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Unpack, cast

import numpy as np

from lapsus.annotators import Annotator, detect, training_data
from lapsus.annotators.breakdown import QUESTION, SCHEME
from lapsus.annotators.bulk import Engine, Journal, Kept, KeptChunks
from lapsus.annotators.detection import AnyModel, Waiting
from lapsus.annotators.judges import JURY
from lapsus.annotators.library import find_annotator, is_language_model, refuse_unknown
from lapsus.errors import UsageError
from lapsus.formats import EntryStream, read
from lapsus.formats.field_map import FieldMap
from lapsus.log_check import pair_ranking
from lapsus.log_check.finding import CUT, Finding
from lapsus.log_check.guideline_check import GuidelineCheck, check_answers
from lapsus.log_check.pair_ranking import PairCheck, check_pairs, is_pair
from lapsus.log_check.ranked_file import RankedFile
from lapsus.log_check.ranking import TOP, DialogueFinding, LogCheck, check_entries, findings_of
from lapsus.model import Entry, Judgment, Scheme

if TYPE_CHECKING:
    from lapsus.annotators.language_model import LanguageModel
    from lapsus.annotators.language_model.asking import Asking
_FAULTY: Final = {"O": 0.0, "T": 0.5, "X": 1.0}
_TRUST: Final = 0.75
"""How far from the usual cut one may easily lie: the standard deviation of the prior."""


def check(
    data: Any,
    *,
    model: AnyModel | Sequence[AnyModel] | None = None,
    profile: str | None = None,
    reader: str | None = None,
    adapt: Any = None,
    top: int = TOP,
    only: str | None = None,
    language: str | None = None,
    map: FieldMap | Mapping[str, Any] | str | None = None,
    engine: Engine | None = None,
    beside: Path | None = None,
    out: RankedFile | None = None,
    stop: threading.Event | None = None,
    answers: Callable[[Annotator], Path | None] = lambda model: None,
    tell: Callable[[Annotator], None] = lambda annotator: None,
    announce: Callable[[EntryStream], None] = lambda reading: None,
    leave: Callable[[list[Waiting]], None] = lambda waiting: None,
    progress: Callable[[], None] = lambda: None,
    **asking: Unpack[Asking],
) -> LogCheck | PairCheck | GuidelineCheck:
    """What is wrong in chat logs: the worst replies first, with evidence.

    Where the first document is data with a text that was made from it: the texts that agree least with their data,
    with marks on what they leave out, add and repeat. Where the model judges under another guideline: how often each
    answer is given, and the units that are most surely judged otherwise than usual.

    `data` is a path, entries in memory, a list of conversations or a table; `map` says which field of it holds what,
    where that is not plain, as `lapsus.read` takes it; `model`, `reader` and `asking` as
    `lapsus.detect` takes them. `adapt` is judged data, in the same forms: it moves the score from which turns are
    called likely, and neither evidence nor order. `engine` is where it is judged, here by default. Where the result
    is to be written to a file, `beside` names it: finished chunks are kept there until all is judged. `out` takes
    every turn, ranked. `answers` names the file in which a language model's answers stay for the next check.
    `leave` hears what language models are to be asked, before the first is. The result prints itself; `to_text()`,
    `to_html()`, `to_frame()` and `as_data()` of it show it elsewhere.
    """
    refuse_unknown(asking, check)
    names = [] if model is None else [model] if isinstance(model, Annotator | Path | str) else list(model)
    reading = read(data, only=only, language=language, map=map)
    of_pairs = holds_pairs(reading)
    if of_pairs and adapt is not None:
        raise UsageError("pairs-data-text-not", hint="lapsus-train-triples-learns")
    if len(names) == 1 and not is_language_model(str(names[0])):
        names = [names[0] if isinstance(names[0], Annotator) else find_annotator(str(names[0]))]
    other = _other_guideline(names)
    if adapt is not None:
        _must_adapt(names, other)
    if out is not None and (of_pairs or other is not None):
        raise UsageError("only-turns-chat-logs", hint="leave-out-out-take")
    cut = CUT if adapt is None else _own_cut(read(adapt, language=language), names, profile)
    found = detect(
        reading,
        model=names or None,
        scheme=other or (pair_ranking.SCHEME if of_pairs else SCHEME),
        profile=profile,
        reader=reader,
        engine=engine,
        stop=stop,
        tell=tell,
        announce=announce,
        **asking,
    )
    kept = [
        _kept(member.one, beside, answers, found.is_jury and place)
        for place, member in enumerate(found.members, 1)
    ]
    leave(found.take_stock(kept))
    entries = found.entries(kept, alone=True, progress=progress)
    checked: LogCheck | PairCheck | GuidelineCheck
    if other is not None:
        checked = check_answers(entries, other, top)
    else:
        checked = (
            check_pairs(entries, top) if of_pairs else check_entries(entries, top, cut, _taker(out, cut))
        )
    for one in kept:
        if isinstance(one, KeptChunks):
            one.remove()
    by = ", ".join(found.names)
    checked.by, checked.reading = f"{JURY} ({by})" if found.is_jury else by, found.reading
    checked.unjudged = found.wanted - found.units if found.asked else 0
    return checked


def _kept(
    judge: Annotator | None, beside: Path | None, answers: Callable[[Annotator], Path | None], number: int
) -> Kept | None:
    """Where a judge's answers are kept: a language model's for the next check, others' until this one is done."""
    if judge is None or not judge.costs:
        return KeptChunks.beside(beside, number) if beside is not None else None
    path = answers(judge)
    model = cast("LanguageModel", judge)
    return None if path is None else Journal(path, lambda judgment: not model.others(judgment))


def _own_cut(judged: EntryStream, names: Sequence[AnyModel], profile: str | None) -> float:
    """The cut that fits turns that people judged."""
    documents, _ = training_data(judged)
    people = {entry.id: entry.judgments for entry in judged}
    found = detect(
        [Entry(one.id, one) for one in documents], model=names or None, scheme=SCHEME, profile=profile
    )
    return own_cut(scored(found, people))


def _taker(out: RankedFile | None, cut: float) -> Callable[[Finding, DialogueFinding], None]:
    if out is None:
        return lambda finding, dialogue: None
    out.cut = cut
    return out.add


def _must_adapt(names: Sequence[AnyModel], other: Scheme | None) -> None:
    if len(names) > 1:
        raise UsageError("jury-not-adapted", hint="leave-adapt-out")
    if names and (is_language_model(str(names[0])) or (isinstance(names[0], Annotator) and names[0].costs)):
        raise UsageError("language-model-not-adapted", hint="leave-adapt-out")
    if other is not None:
        raise UsageError("model-under-not-adapted", hint="lapsus-train-judge-learns", id=other.id)


def _other_guideline(judges: Sequence[AnyModel]) -> Scheme | None:
    """The guideline of a single model, where it is none of the two that have a report of their own."""
    judge = judges[0] if len(judges) == 1 else None
    try:
        found = judge.scheme if isinstance(judge, Annotator) else None
    except UsageError:
        return None  # it takes any, and was given none
    return found if found is not None and found.id not in (SCHEME, pair_ranking.SCHEME) else None


def holds_pairs(reading: EntryStream) -> bool:
    """Whether the first document is a pair of data and text."""
    first = next(iter(reading), None)
    return first is not None and first.document is not None and is_pair(first.document)


def own_cut(judged: Iterable[tuple[float, float]]) -> float:
    """The cut that fits turns best, given each one's score and the share of people who see a fault in it.

    The likeliest cut where the chance of a fault is a logistic curve of score less cut, and the usual cut is likely
    beforehand: twenty turns move it a little, two hundred as far as need be.
    """
    pairs = np.array(list(judged), dtype=float).reshape(-1, 2)
    cuts = np.arange(CUT - 5, CUT + 5.01, 0.05)
    ahead = pairs[:, :1] - cuts
    # log(1 + e^a) - y a, summed: the negative log likelihood at each cut.
    cost = (np.logaddexp(0, ahead) - pairs[:, 1:] * ahead).sum(axis=0) + (cuts - CUT) ** 2 / (2 * _TRUST**2)
    return round(float(cuts[cost.argmin()]), 2)


def scored(
    entries: Iterable[Entry], people: Mapping[str, Sequence[Judgment]]
) -> Iterable[tuple[float, float]]:
    """The score of every turn that people judged, and the share of them who see a fault; a doubt is half of one."""
    for entry in entries:
        if entry.document is None:
            continue
        said: dict[str | None, list[float]] = {}
        for judgment in people.get(entry.id, ()):
            if judgment.scheme == SCHEME and judgment.answers.get(QUESTION) in _FAULTY:
                said.setdefault(judgment.segment, []).append(_FAULTY[str(judgment.answers[QUESTION])])
        for finding in findings_of(entry.document, entry):
            if votes := said.get(finding.turn.id):
                yield finding.score, sum(votes) / len(votes)
