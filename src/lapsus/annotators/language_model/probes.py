"""Probes: does a model agree with itself when nothing that matters has changed?

again: the very same question once more. order: the labels offered the other way round. context: the turns of
another document put in front of what is judged. What is judged is followed by a friendly sentence that says nothing
(length), by itself in other words (verbosity), by a claim to be sure (tone), by the name of a weak and then of a strong
system (names), by the name of the judge's own family and then of another (family), and by an order to the judge to give
another answer (instructed).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec

from lapsus.annotators.language_model.aligned import told
from lapsus.annotators.language_model.annotator import LanguageModel
from lapsus.annotators.language_model.prompt_frames import prompt_frame
from lapsus.errors import InputError
from lapsus.kinds import countable, kind_of
from lapsus.measures.bootstrap import share_bounds
from lapsus.model import Judgment, Scheme, Segment, Unit, UnitKey

PROBES = ("again", "order", "context", "length", "verbosity", "tone", "names", "family", "instructed")
_ADDED = ("length", "verbosity", "tone", "names", "family")
"""Probes that add to a judged turn. What is judged as a whole would be something else with it."""
_PAIRS = ("names", "family")
"""Probes that compare two additions with each other."""
SHOWN = 10
"""How many units on which a model contradicted itself are named."""
LEVEL = 0.95
Make: TypeAlias = Callable[[Scheme], LanguageModel]


class Probed(msgspec.Struct, frozen=True):
    """How often a model gave the same answer to one question under one probe."""

    probe: str
    question: str
    units: int
    """Units that it judged both times."""
    same: int
    share: float | None
    lost: int
    """Units that it judged the first time only."""
    differing: tuple[tuple[str, str | None], ...]
    """Some of the units on which it contradicted itself."""
    low: float | None = None
    high: float | None = None
    """The exact interval of the share, at 95%."""
    moved: tuple[tuple[str, str, int], ...] = ()
    """From which answer to which, and how often: the most frequent first."""


def probe(make: Make, scheme: Scheme, units: Sequence[Unit], probes: Sequence[str] = PROBES) -> list[Probed]:
    """Ask a model about some units, and again under each probe. `make` gives the model for a scheme.

    Probes that mean nothing to the guideline are left out.
    """
    first = _judged(make(scheme), units)
    if not first:
        raise InputError("model-judged-none-units", hint="does-judge-lapsus-detect")
    return [
        one
        for name in fitting(probes, scheme)
        for one in _compared(name, scheme, *_variant(name, make, scheme, units, first))
    ]


def fitting(probes: Sequence[str], scheme: Scheme) -> list[str]:
    """The probes that mean something to a guideline."""
    return [name for name in probes if scheme.unit.role != "document" or name not in _ADDED]


def rounds(scheme: Scheme) -> int:
    """How often each unit is asked about when all probes are run."""
    return 1 + sum(2 if name in _PAIRS else 1 for name in fitting(PROBES, scheme))


_Heard: TypeAlias = dict[UnitKey, Judgment]


def _variant(
    name: str, make: Make, scheme: Scheme, units: Sequence[Unit], first: _Heard
) -> tuple[_Heard, _Heard]:
    """What was said without and with what is probed."""
    model = make(scheme)
    if name in _PAIRS:
        pair = [[followed(unit, name, model.name, other) for unit in units] for other in (False, True)]
        return _judged(model, pair[0]), _judged(make(scheme), pair[1])
    if name == "order":
        return first, _judged(make(turned(scheme)), units)
    changed = list(units)
    if name == "instructed":
        changed = [instructed(unit, scheme, first.get(unit.key)) for unit in units]
    elif name == "context":
        changed = lengthened(units)
    elif name in _ADDED:
        changed = [followed(unit, name, model.name) for unit in units]
    return first, _judged(model, changed)


def _judged(model: LanguageModel, units: Sequence[Unit]) -> dict[UnitKey, Judgment]:
    found = {judgment.unit: judgment for judgment in model.judge_units(units)}
    if model.ended is not None:
        raise model.ended
    return found


def turned(scheme: Scheme) -> Scheme:
    """The same guideline with the labels of each question in the opposite order."""
    questions = tuple(
        msgspec.structs.replace(question, labels=scheme.labels_of(question)[::-1], labels_from=None)
        for question in scheme.questions
    )
    return msgspec.structs.replace(scheme, questions=questions)


_FAMILIES = {"gpt": "GPT", "claude": "Claude", "gemini": "Gemini", "llama": "Llama", "qwen": "Qwen"}


def followed(unit: Unit, name: str, judge: str, other: bool = False) -> Unit:
    """The same unit with something after the judged turn. Marks on the turn itself stay where they are.

    `judge`: the model's name, by which its family is known. `other`: the second of two additions.
    """
    if unit.target is None:
        return unit
    language = unit.language or "en"
    if name == "names":
        who = prompt_frame("probe-strong" if other else "probe-weak", language)
        added = prompt_frame("probe-by", language, who=who)
    elif name == "family":
        added = prompt_frame("probe-by", language, who=_family(judge, other))
    else:
        added = prompt_frame(f"probe-{name}", language, text=unit.target.text)
    target = msgspec.structs.replace(unit.target, text=f"{unit.target.text} {added}")
    return msgspec.structs.replace(unit, target=target)


def _family(judge: str, other: bool) -> str:
    """The family of a judge by its name, else the name itself; or another family."""
    _, _, model = judge.partition(":")
    own = next((called for part, called in _FAMILIES.items() if part in model.lower()), model)
    return next(called for called in _FAMILIES.values() if called != own) if other else own


def instructed(unit: Unit, scheme: Scheme, first: Judgment | None) -> Unit:
    """The same unit with an order to the judge in its last text: give an answer that it did not give the first time."""
    said = first.answers if first is not None else {}
    orders = []
    for question in countable(scheme.questions):
        others = [one for one in kind_of(question, scheme).choices if str(one) != str(said.get(question.id))]
        if others:
            told = {"answer": others[-1], "question": question.id}
            orders.append(prompt_frame("probe-order", unit.language or "en", **told))
    if not orders:
        return unit
    order = " ".join(orders)
    if unit.target is not None:
        text = f"{unit.target.text}\n{order}"
        return msgspec.structs.replace(unit, target=msgspec.structs.replace(unit.target, text=text))
    place = max((n for n, one in enumerate(unit.context) if one.parts is None), default=None)
    if place is None:
        return unit
    longer = msgspec.structs.replace(unit.context[place], text=f"{unit.context[place].text}\n{order}")
    return msgspec.structs.replace(unit, context=(*unit.context[:place], longer, *unit.context[place + 1 :]))


def lengthened(units: Sequence[Unit]) -> list[Unit]:
    """Each unit with what can be seen of one of another document in front; the first document gets the last one's.

    Units judged as a whole stay as they are: whatever is put in front of them would be judged with them.
    """
    longer = []
    for place, unit in enumerate(units):
        other = next(
            (one for one in (*units[place::-1], *units[::-1]) if one.document != unit.document), None
        )
        if unit.target is None or other is None:
            longer.append(unit)
            continue
        before = tuple(Segment(f"before-{s.id}", s.role, s.text, s.parts) for s in other.visible)
        longer.append(msgspec.structs.replace(unit, context=(*before, *unit.context)))
    return longer


def _compared(
    name: str, scheme: Scheme, first: Mapping[UnitKey, Judgment], again: Mapping[UnitKey, Judgment]
) -> Iterator[Probed]:
    both = [unit for unit in first if unit in again]
    for question in countable(scheme.questions):
        kind = kind_of(question, scheme)
        said, repeated = (
            {unit: kind.same_or_none(judged[unit].answers.get(question.id)) for unit in both}
            for judged in (first, again)
        )
        differing = [unit for unit in both if said[unit] != repeated[unit]]
        same = len(both) - len(differing)
        share = same / len(both) if both else None
        shown = tuple((unit.document, unit.segment) for unit in differing[:SHOWN])
        low, high = (None, None) if share is None else share_bounds(share, len(both), LEVEL)
        pairs = Counter(
            (told(first[one].answers.get(question.id)), told(again[one].answers.get(question.id)))
            for one in differing
        )
        moved = tuple((before, after, times) for (before, after), times in pairs.most_common(SHOWN))
        lost = len(first) - len(both)
        yield Probed(name, question.id, len(both), same, share, lost, shown, low, high, moved)
