"""Errors that a language model plants: it writes a good reply again, with one error of the guideline in it."""

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from lapsus.annotators import Annotator
from lapsus.model import Question, Scheme, Text
from lapsus.mutation.sources import Guide, Spot
from lapsus.mutation.turn_rules import Expected, Plant
from lapsus.word_files import LANGUAGES, word_file

REPLY = "reply"


def planting_scheme(scheme: Scheme, question: Question, type: str) -> Scheme:
    """The guideline by which a model writes: one question, answered with the new text."""
    words = word_file("lapsus.mutation", "report_words.yaml")["planter"]
    label = question.label(type)
    if label is not None:
        name, definition = label.name, label.definition
    else:
        worst = min(question.levels, key=lambda level: level.value)
        name, definition = question.name, worst.meaning

    def both(key: str) -> Text:
        told = {one: one if one in name else next(iter(name)) for one in LANGUAGES}
        return {
            one: words[key][one].format(name=name[at], definition=definition[at]) for one, at in told.items()
        }

    asked = Question(REPLY, "text", both("name"), both("ask"), required=True)
    return Scheme("planting", "1", both("title"), both("ask"), scheme.unit, (asked,))


def model_plants(
    guide: Guide, wanted: Mapping[str, Sequence[Spot]], make: Callable[[Scheme], Annotator]
) -> Iterator[Plant]:
    """An error of each type in each of the units wanted for it, as far as the model writes one."""
    for question, type, expected in guide.errors():
        spots = wanted.get(type, ())
        if not spots:
            continue
        model = make(planting_scheme(guide.scheme, question, type))
        documents = [
            msgspec.structs.replace(spot.document(guide.scheme), id=str(n)) for n, spot in enumerate(spots)
        ]
        for judgment in model.judge(documents):
            spot = spots[int(judgment.document)]
            reply = str(judgment.answers.get(REPLY, "")).strip()
            if reply and reply != spot.text:
                yield _plant(guide.scheme, spot, type, expected, reply)


def _plant(scheme: Scheme, spot: Spot, type: str, expected: Expected, reply: str) -> Plant:
    document = spot.document(scheme, reply)
    if spot.unit.target is None:
        place = max((one for one in document.segments if one.parts is None), key=lambda one: int(one.id))
        changed = difflib.SequenceMatcher(None, spot.text, place.text, autojunk=False).get_opcodes()
        put_in = tuple(
            (place.id, start, end) for op, _, _, start, end in changed if op != "equal" and end > start
        )
        expected = msgspec.structs.replace(expected, places=put_in)
    return Plant(document, spot.unit.document, reply, type, "model", expected, spot.text)
