"""Texts made from triples: what they leave out, add and repeat."""

import hashlib
from collections.abc import Sequence
from typing import ClassVar, Final

import msgspec
import numpy as np

from lapsus.annotators.base import Annotator, Opinion, Progress, TrainingData
from lapsus.annotators.cases import Case, Origin, origin_of
from lapsus.annotators.library import default_model
from lapsus.annotators.model_files import State, read_model
from lapsus.annotators.triples.labeller import GRAPH, LONG_GRAPH, Labeller, Reading
from lapsus.annotators.triples.marks import (
    LABELS,
    Answers,
    Cuts,
    fitted_cuts,
    mark_ratios,
    marks_of,
)
from lapsus.annotators.triples.pair import parts_of
from lapsus.annotators.triples.regression import Regression
from lapsus.errors import InputError
from lapsus.kinds.votes import marks_in
from lapsus.model import Scheme, Segment, Span, Unit
from lapsus.notices import Notice

SCHEME: Final = "semantic-errors"
QUESTION: Final = "errors"
_PLACES: Final = 4
_AT_ONCE: Final = 64


class Triples(Annotator):
    """Reads triples and the text that was made from them, and marks where they do not agree.

    Fitting does not touch the labeller, which is shipped: it moves the shares from which places are marked, and how
    many marks are expected, to what people marked.
    """

    method = "triples"
    title = "texts made from triples: marks what they leave out, add and repeat; comes fitted, for English"
    made_for: ClassVar[str | None] = SCHEME
    uses_words = False
    labeller_: Labeller
    cuts_: Cuts
    long_cuts_: Cuts
    """For pairs that are read in several windows: there shares are lower."""
    regression_: Regression
    others_: dict[str, bytes]
    """What else is in the model's file: notices."""

    def _opinions(self, cases: Sequence[Case]) -> list[Opinion]:
        readings = self.read([case.unit for case in cases])
        expected = self.regression_.expected(readings).round(_PLACES)
        return [
            _opinion(reading, self.long_cuts_ if reading.is_long else self.cuts_, numbers)
            for reading, numbers in zip(readings, expected.tolist(), strict=True)
        ]

    def read(self, units: Sequence[Unit]) -> list[Reading]:
        """What the labeller says of some pairs."""
        return self.labeller_.read([_pair_in(unit) for unit in units])

    def _learn_from(self, training: TrainingData, languages: Sequence[str], progress: Progress) -> Origin:
        marked = _marked(training)
        if not marked:
            raise InputError("no-marked-pair-learn", hint="give-pairs-data-text", scheme=SCHEME)
        _, state = read_model(default_model("en", SCHEME))
        self._restore(state)
        readings: list[Reading] = []
        for place in range(0, len(marked), _AT_ONCE):
            readings += self.read([unit for unit, _ in marked[place : place + _AT_ONCE]])
            progress(len(readings), len(marked))
        answers = [given for _, given in marked]
        self.cuts_, self.long_cuts_ = (
            fitted_cuts(*_where(readings, answers, is_long=is_long), before)
            for is_long, before in ((False, self.cuts_), (True, self.long_cuts_))
        )
        self.regression_ = self.regression_.times(mark_ratios(self.regression_.expected(readings), answers))
        return _origin(self.scheme, marked, languages or ("en",))

    def _state(self) -> State:
        cuts = {"cuts": self.cuts_._asdict(), "long_cuts": self.long_cuts_._asdict()}
        arrays = {name: np.asarray(array) for name, array in self.regression_._asdict().items()}
        graphs = {GRAPH: self.labeller_.graph, LONG_GRAPH: self.labeller_.long_graph}
        return State(
            {"reader_data": {"lower": self.labeller_.lower}, **cuts}, arrays, {**self.others_, **graphs}
        )

    def _restore(self, state: State) -> None:
        lower = str(state.data["reader_data"]["lower"])
        self.labeller_ = Labeller(state.files[GRAPH], lower, state.files[LONG_GRAPH])
        self.others_ = {
            name: content for name, content in state.files.items() if name not in (GRAPH, LONG_GRAPH)
        }
        self.cuts_, self.long_cuts_ = (
            Cuts(*(float(state.data[name][label]) for label in LABELS)) for name in ("cuts", "long_cuts")
        )
        self.regression_ = Regression(
            *(np.asarray(state.arrays[name], dtype=np.float64) for name in Regression._fields)
        )


def _opinion(reading: Reading, cuts: Cuts, expected: Sequence[float]) -> Opinion:
    marks = marks_of(reading, cuts)
    return Opinion(
        {QUESTION: tuple(mark.span for mark in marks)},
        scores={QUESTION: tuple(mark.score for mark in marks)},
        expected=dict(zip(LABELS, expected, strict=True)),
    )


def _where(
    readings: Sequence[Reading], answers: Sequence[Answers], *, is_long: bool
) -> tuple[list[Reading], list[Answers]]:
    """The readings of pairs that are, or are not, long, and what people marked there."""
    places = [n for n, reading in enumerate(readings) if reading.is_long == is_long]
    return [readings[n] for n in places], [answers[n] for n in places]


def _pair_in(unit: Unit) -> tuple[list[Segment], list[Segment], str | None]:
    """The triples and the text of a pair, which has a text."""
    triples, texts, language = parts_of(unit)
    if not texts:
        raise InputError(
            "no-text-made-data",
            where=Notice("document", document=unit.document),
            hint="under-pairs-data-text",
            scheme=SCHEME,
        )
    return triples, texts, language


def _marked(training: TrainingData) -> list[tuple[Unit, tuple[tuple[Span, ...], ...]]]:
    """The pairs that people answered about, and what each of them marked."""
    votes = marks_in(training.votes.get(QUESTION))
    if votes is None:
        return []
    given = {
        unit: tuple(spans for spans in said if spans is not None)
        for unit, said in zip(votes.units, votes.spans, strict=True)
    }
    return [(case.unit, given[case.unit.key]) for case in training.cases if given.get(case.unit.key)]


def _origin(
    scheme: Scheme, marked: Sequence[tuple[Unit, tuple[tuple[Span, ...], ...]]], languages: Sequence[str]
) -> Origin:
    hashed = hashlib.blake2b(digest_size=12)
    for unit, given in marked:
        hashed.update(msgspec.json.encode([unit.document, [one.text for one in unit.visible], given]))
    votes = sum(len(given) for _, given in marked)
    return origin_of(scheme, (unit for unit, _ in marked), votes, hashed.hexdigest(), languages)
