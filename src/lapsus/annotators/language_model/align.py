"""`lapsus.align`: what to add to a judge's prompt so that it answers as people do, and whether that helped.

People's judgments are cut into three parts by document. Examples and clauses are made from the first, chosen by
agreement on the second, and what they are worth is told by the third, which nothing was chosen from or by.
"""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import msgspec
import numpy as np

from lapsus.annotators.bulk import Journal, Run
from lapsus.annotators.cases import cases_of
from lapsus.annotators.detection import UnfinishedError, Waiting
from lapsus.annotators.language_model.aligned import Aligned, Figure, Shot, Told, as_reply, told
from lapsus.annotators.language_model.annotator import LanguageModel, guessed_tokens
from lapsus.annotators.language_model.asking import Asking, make_language_model
from lapsus.annotators.language_model.prices import Expected
from lapsus.annotators.language_model.prompt import fitting_language, unit_data, unit_message
from lapsus.annotators.language_model.prompt_frames import prompt_frame
from lapsus.annotators.library import refuse_unknown
from lapsus.errors import InputError
from lapsus.formats import read
from lapsus.http_client import one_line
from lapsus.kinds import countable, kind_of
from lapsus.kinds.base import Floats, Kind
from lapsus.model import (
    Answer,
    Document,
    Entry,
    Judgment,
    Question,
    Scheme,
    Segment,
    Unit,
    UnitKey,
    UnitRule,
    in_language,
)
from lapsus.model.frozen import decoder
from lapsus.model.judgment import GOLD
from lapsus.notices import Notice
from lapsus.schemes import AnyScheme, load_scheme
from lapsus.trust.estimators import Estimate, mean

UNITS, SHOTS = 150, 6
LEAST = 10
"""Units that each of the three parts must have."""
PARTS = 3


class Case(NamedTuple):
    """A unit with what people answered."""

    unit: Unit
    people: tuple[Mapping[str, Answer], ...]
    answer: Mapping[str, Answer]
    """The answers of the person who is nearest to all the others."""


class Parts(NamedTuple):
    """Units by what they are for."""

    chosen_from: list[Case]
    chosen_by: list[Case]
    told_by: list[Case]

    @property
    def requests(self) -> int:
        """At most so many: the plain prompt on all, two sets of examples, each clause, both together."""
        return len(self.chosen_from) + (4 + CLAUSES) * len(self.chosen_by) + 2 * len(self.told_by) + CLAUSES


class Tried(NamedTuple):
    """An addition to the prompt, and how well the model agreed with people on the part that is chosen by."""

    name: str
    aligned: Aligned | None
    agreement: float


class Alignment(NamedTuple):
    """What was tried, and what came of it."""

    tried: tuple[Tried, ...]
    aligned: Aligned | None
    """The best; None where nothing was better than the plain prompt."""


def align(
    data: Any,
    model: str,
    *,
    scheme: AnyScheme,
    units: int = UNITS,
    shots: int = SHOTS,
    draw: int = 0,
    kept: Path | None = None,
    only: str | None = None,
    language: str | None = None,
    stop: threading.Event | None = None,
    leave: Callable[[list[Waiting]], None] = lambda waiting: None,
    progress: Callable[[], None] = lambda: None,
    **asking: Unpack[Asking],
) -> Alignment:
    """Fit the prompt of a language model to people's judgments in `data`.

    `units`: at most so many are asked about, a third for each part; `shots`: examples in the prompt. `kept` is where
    answers are kept until it is done, so that another go does not pay for them again. The same `draw` cuts alike.
    """
    refuse_unknown(asking, align)
    guideline = load_scheme(scheme)
    cases = list(people_cases(read(data, only=only, language=language), guideline))
    words = asking.get("words") or _usual_language(cases, guideline)
    is_said = asking.get("words") is not None
    fitting = [one for one in cases if is_said or _language(one, guideline) == words]
    parts = cut(fitting, units, random.Random(f"align {draw}"))
    asking["words"] = words
    plain = make_language_model(model, guideline, stop=stop, **asking)
    leave([Waiting(plain, parts.requests, 0, None, expected=_expected(plain, parts, shots))])
    return _Search(plain, parts, shots, kept, progress).run()


def people_cases(entries: Iterable[Entry], scheme: Scheme) -> Iterator[Case]:
    """The units that people judged under a guideline; programs and gold are no people."""
    for entry in entries:
        said: dict[UnitKey, list[Mapping[str, Answer]]] = {}
        for judgment in entry.judgments:
            if judgment.scheme == scheme.id and not judgment.by_program and GOLD not in judgment.metadata:
                said.setdefault(judgment.unit, []).append(judgment.answers)
        for case in cases_of(entry, scheme, all_units=True) if said else ():
            if people := said.get(case.unit.key):
                nearest = max(people, key=lambda one: sum(nearness(scheme, one, other) for other in people))
                yield Case(case.unit, tuple(people), nearest)


def nearness(scheme: Scheme, one: Mapping[str, Answer], other: Mapping[str, Answer]) -> float:
    """How near two judgments are, from 0 to 1: the mean over the questions that the second answers."""
    values = []
    for question in countable(scheme.questions):
        theirs = other.get(question.id)
        if theirs is not None:
            mine = one.get(question.id)
            values.append(0.0 if mine is None else _near(kind_of(question, scheme), mine, theirs))
    return float(np.mean(values)) if values else 1.0


def _near(kind: Kind, one: Answer, other: Answer) -> float:
    value = kind.compare(one, other)
    if kind.comparison != "rmse" or kind.numbers is None:
        return value
    return 1 - float(np.sqrt(value)) / (max(kind.numbers) - min(kind.numbers))


def cut(cases: Sequence[Case], most: int, rng: random.Random) -> Parts:
    """Three parts of whole documents, as even as may be."""
    documents: dict[str, list[Case]] = {}
    for case in cases:
        documents.setdefault(case.unit.document, []).append(case)
    order = sorted(documents)
    rng.shuffle(order)
    parts: tuple[list[Case], ...] = tuple([] for _ in range(PARTS))
    for name in order:
        room = most - sum(map(len, parts))
        min(parts, key=len).extend(documents[name][:room])
    short = min(map(len, parts))
    if short < LEAST or len({one.unit.document for one in parts[-1]}) < 2:
        raise InputError("align-too-few", hint="align-need", least=LEAST * PARTS, count=len(cases))
    return Parts(*parts)


def _language(case: Case, scheme: Scheme) -> str:
    return fitting_language(scheme, case.unit.language)


def _usual_language(cases: Sequence[Case], scheme: Scheme) -> str:
    if not cases:
        raise InputError("align-no-people", hint="align-people-needed", id=scheme.id)
    return Counter(_language(one, scheme) for one in cases).most_common(1)[0][0]


def _expected(model: LanguageModel, parts: Parts, shots: int) -> Expected:
    plain = model.expects(one.unit for one in (*parts.chosen_from, *parts.chosen_by, *parts.told_by))
    times = parts.requests / sum(map(len, parts))
    length = float(np.mean([guessed_tokens(unit_message(one.unit)) for one in parts.chosen_from]))
    more = round(shots * length * (3 * len(parts.chosen_by) + len(parts.told_by)))
    prompt, completion, seconds = plain
    return Expected(round(prompt * times) + more, round(completion * times), seconds * times)


class _Search:
    """One alignment under way."""

    def __init__(
        self,
        plain: LanguageModel,
        parts: Parts,
        shots: int,
        kept: Path | None,
        progress: Callable[[], None],
    ) -> None:
        self.plain, self.parts, self.shots, self.kept, self.progress = plain, parts, shots, kept, progress
        self.scheme, self.language = plain.scheme, str(plain.language)

    def run(self) -> Alignment:
        """Make additions from the first part, choose by the second, tell by the third."""
        first = self._said(None, self.parts.chosen_from)
        tried = [self._try("plain", None)]
        sets = [
            self._try(name, self._added(examples=found))
            for name, found in (("spread", self._spread()), ("missed", self._missed(first)))
            if found
        ]
        clauses = write_clauses(self.plain, self.parts.chosen_from, first, self.kept)
        worded = [self._try(f"clause {n}", self._added((one,))) for n, one in enumerate(clauses, 1)]
        tried += [*sets, *worded]
        good = [one.aligned for one in worded if one.aligned and one.agreement > tried[0].agreement]
        best = max(sets, key=lambda one: one.agreement, default=None)
        if good and best is not None and best.aligned is not None:
            together = self._added(tuple(c for one in good for c in one.clauses), best.aligned.examples)
            tried.append(self._try("together", together))
        # Of equals the first, which adds the least.
        chosen = max(tried, key=lambda one: one.agreement).aligned
        told = None if chosen is None else msgspec.structs.replace(chosen, told=self._told(chosen))
        return Alignment(tuple(tried), told)

    def _added(self, clauses: tuple[str, ...] = (), examples: tuple[Shot, ...] = ()) -> Aligned:
        return Aligned(self.scheme.id, self.scheme.version, self.language, clauses, examples)

    def _said(self, aligned: Aligned | None, cases: Sequence[Case]) -> dict[UnitKey, Judgment]:
        """What the model answers under a prompt; answers of another go are not asked for again."""
        model = self.plain.variant(aligned=aligned)
        journal = None if self.kept is None else Journal(self.kept, lambda one: not model.others(one))
        run = Run(kept=journal, progress=self.progress)
        found = {one.unit: one for one in run.judgments(model, (case.unit for case in cases))}
        if model.ended is not None:
            raise model.ended
        if model.service.stop.is_set():
            raise UnfinishedError(Notice("not-all-judged"), hint=Notice("same-again-goes"))
        return found

    def _scores(self, aligned: Aligned | None, cases: Sequence[Case]) -> Floats:
        """How near the model is to people on each unit; 0 where it gave no answer."""
        said = self._said(aligned, cases)
        return np.array(
            [
                np.mean([nearness(self.scheme, found.answers, one) for one in case.people])
                if (found := said.get(case.unit.key))
                else 0.0
                for case in cases
            ],
            dtype=np.float64,
        )

    def _try(self, name: str, aligned: Aligned | None) -> Tried:
        return Tried(name, aligned, float(self._scores(aligned, self.parts.chosen_by).mean()))

    def _told(self, chosen: Aligned) -> Told:
        cases = self.parts.told_by
        before, after = self._scores(None, cases), self._scores(chosen, cases)
        names = [case.unit.document for case in cases]
        documents = np.unique(names, return_inverse=True)[1].astype(np.intp)
        learned = {one.unit.document for one in (*self.parts.chosen_from, *self.parts.chosen_by)}
        return Told(
            self.plain.name,
            len(cases),
            len(set(names)),
            _figure(mean(before, documents)),
            _figure(mean(after, documents)),
            _figure(mean(after - before, documents, is_share=False)),
            tuple(sorted(learned)),
        )

    def _spread(self) -> tuple[Shot, ...]:
        """Units that people agree on, of each answer in turn."""

        def agreed(case: Case) -> float:
            return float(np.mean([nearness(self.scheme, case.answer, one) for one in case.people]))

        return self._shots(sorted(self.parts.chosen_from, key=agreed, reverse=True))

    def _missed(self, first: Mapping[UnitKey, Judgment]) -> tuple[Shot, ...]:
        """Units of which the model says something else than people, the clearest first, of each answer in turn."""

        def gain(case: Case) -> float:
            said = first.get(case.unit.key)
            theirs = [nearness(self.scheme, case.answer, one) for one in case.people]
            mine = [nearness(self.scheme, said.answers, one) for one in case.people] if said else [0.0]
            return float(np.mean(theirs) - np.mean(mine))

        gains = {case.unit.key: gain(case) for case in self.parts.chosen_from}
        found = [case for case in self.parts.chosen_from if gains[case.unit.key] > 0]
        return self._shots(sorted(found, key=lambda one: gains[one.unit.key], reverse=True))

    def _shots(self, cases: Sequence[Case]) -> tuple[Shot, ...]:
        """The first of each answer, then the second of each, and so on; one a document while there are others."""
        turns: Counter[Any] = Counter()
        places: dict[UnitKey, tuple[int, int, int]] = {}
        used: Counter[str] = Counter()
        for place, case in enumerate(cases):
            answer, document = self._same(case.answer), case.unit.document
            places[case.unit.key] = (used[document], turns[answer], place)
            turns[answer] += 1
            used[document] += 1
        chosen = sorted(cases, key=lambda one: places[one.unit.key])[: self.shots]
        return tuple(
            Shot(one.unit.document, unit_data(one.unit), as_reply(one.answer, one.unit, self.scheme))
            for one in chosen
        )

    def _same(self, answers: Mapping[str, Answer]) -> tuple[Any, ...]:
        return tuple(
            kind_of(one, self.scheme).same_or_none(answers.get(one.id))
            for one in countable(self.scheme.questions)
        )


def _figure(found: Estimate) -> Figure:
    """As a file holds it; one document has no interval, but then nothing is told."""
    value, low, high = (float("nan") if one is None else float(one) for one in found[:3])
    return Figure(round(value, 4), round(low, 4), round(high, 4))


CLAUSES = 3
"""How many are written at most: for the confusions that are most frequent."""
_SHOWN = 5
"""Units of a confusion that are shown."""
_LEAST = 2
_LONGEST = 400
"""Characters of a clause."""
CLAUSE = "clause"


class _Confused(NamedTuple):
    """Answers of people that the model takes for something else."""

    question: Question
    people: str
    model: str
    cases: list[Case]


def write_clauses(
    model: LanguageModel, cases: Sequence[Case], said: Mapping[UnitKey, Judgment], kept: Path | None
) -> list[str]:
    """A clause for each of the most frequent confusions. Those that another go wrote are taken as they are."""
    path = None if kept is None else kept.with_suffix(".clauses")
    if path is not None and path.exists():
        return decoder(list[str]).decode(path.read_bytes())
    found = [clause for one in _confusions(model.scheme, cases, said) if (clause := _written(model, one))]
    if path is not None and not model.service.stop.is_set():
        path.write_bytes(msgspec.json.encode(found))
    return found


def _confusions(
    scheme: Scheme, cases: Sequence[Case], said: Mapping[UnitKey, Judgment]
) -> Iterator[_Confused]:
    groups: dict[tuple[str, str, str], list[Case]] = {}
    for case in cases:
        judgment = said.get(case.unit.key)
        for question in countable(scheme.questions) if judgment else ():
            kind = kind_of(question, scheme)
            theirs = case.answer.get(question.id)
            mine = judgment.answers.get(question.id) if judgment else None
            if kind.same_or_none(theirs) != kind.same_or_none(mine):
                groups.setdefault((question.id, told(theirs), told(mine)), []).append(case)
    often = Counter({key: len(some) for key, some in groups.items() if len(some) >= _LEAST})
    for key, _ in often.most_common(CLAUSES):
        question = next(one for one in scheme.questions if one.id == key[0])
        yield _Confused(question, key[1], key[2], groups[key])


def _written(model: LanguageModel, confused: _Confused) -> str:
    """One clause, asked for as the answer to a question about a document that holds the units."""
    language = str(model.language)
    name = in_language(confused.question.name, language)
    asked = prompt_frame("clause-ask", language, question=name, people=confused.people, model=confused.model)
    text = {language: asked}
    question = Question(CLAUSE, "text", {language: name}, text, required=True)
    title = {language: prompt_frame("clause-title", language)}
    scheme = Scheme(CLAUSE, "1", title, text, UnitRule("document"), (question,))
    units = [unit_message(case.unit) for case in confused.cases[:_SHOWN]]
    segments = tuple(Segment(str(place), "text", unit) for place, unit in enumerate(units))
    writer = model.variant(scheme)
    found = next(iter(writer.judge([Document("units", segments, language)])), None)
    if writer.ended is not None:
        raise writer.ended
    return one_line(str(found.answers.get(CLAUSE, "")))[:_LONGEST] if found is not None else ""
