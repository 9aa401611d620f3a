"""Clauses for a guideline, which a model writes from units where people answered something else than it did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from lapsus.annotators.language_model.annotator import LanguageModel
from lapsus.annotators.language_model.prompt import unit_message
from lapsus.annotators.language_model.prompt_frames import prompt_frame
from lapsus.http_client import one_line
from lapsus.kinds import countable, kind_of
from lapsus.model import Document, Judgment, Question, Scheme, Segment, UnitKey, UnitRule, in_language
from lapsus.model.decoders import decoder

if TYPE_CHECKING:
    from lapsus.annotators.language_model.align import Case

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


def told(answer: Any) -> str:
    """An answer in a few words; marks by their labels."""
    if not isinstance(answer, tuple):
        return "–" if answer is None else str(answer)
    return ", ".join(sorted({getattr(one, "label", str(one)) for one in answer})) or "–"


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
