"""Arena-style records: two models' replies to the same prompt, and which one somebody preferred."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Any, Final, NamedTuple

from lapsus.errors import InputError
from lapsus.formats.base import Format, ReadOptions
from lapsus.formats.messages import json_text
from lapsus.formats.records import SUFFIXES, Record, first_record, records
from lapsus.formats.source import Source
from lapsus.kinds.preference import FIRST, ORDERS, SECOND, with_order
from lapsus.model import Document, Entry, Judgment, Segment, anonymous_annotator
from lapsus.notices import Notice

SCHEME, VERSION, QUESTION = "preference", "1.0", "better"
_SIDES: Final = ("a", "b")
_TALKS: Final = ("conversation_a", "conversation_b")
_REPLIES: Final = ("response_a", "response_b")
_IDS: Final = ("conversation_id", "question_id", "id")
_WINNERS: Final = {
    "model_a": FIRST,
    "model_b": SECOND,
    "tie": "both",
    "both": "both",
    "tie (bothbad)": "neither",
    "bothbad": "neither",
    "both_bad": "neither",
    "neither": "neither",
}
_ROLES: Final = {"user": "user", "human": "user", "assistant": "system", "gpt": "system", "system": "prompt"}


class Turn(NamedTuple):
    """Who said what."""

    role: str
    text: str


class Arena(Format):
    """`model_a`, `model_b`, two conversations (or a prompt and two responses), `winner` and `judge`.

    Each record is a document with the replies A and B, and a judgment where somebody won or drew.
    """

    name = "arena"
    title = Notice("arena-two-models")
    writes = False

    def recognises(self, source: Source) -> bool:
        """By the first record."""
        record = first_record(source)
        return record is not None and _is_battle(record.value)

    def read(self, source: Source, options: ReadOptions) -> Iterator[Entry]:
        """A record at a time."""
        used: Counter[str] = Counter()
        for member in source.members(*SUFFIXES):
            for number, record in enumerate(records(member), 1):
                source.place = record.where
                if not _is_battle(record.value):
                    raise InputError("arena-needs", where=record.where)
                dialogue = next(
                    (str(record.value[key]) for key in _IDS if record.value.get(key) not in (None, "")),
                    f"{member.path.stem}-{number}",
                )
                used[dialogue] += 1
                id = dialogue if used[dialogue] == 1 else f"{dialogue}#{used[dialogue]}"
                yield _entry(record, id, dialogue, options)


def _is_battle(value: Mapping[str, Any]) -> bool:
    has_talks = all(name in value for name in _TALKS) or all(name in value for name in _REPLIES)
    return has_talks and all(f"model_{side}" in value for side in _SIDES)


def _entry(record: Record, id: str, dialogue: str, options: ReadOptions) -> Entry:
    value = record.value
    talks = [_turns(value, side, record.where) for side in _SIDES]
    common = [one for one, other in takewhile(lambda pair: pair[0] == pair[1], zip(*talks, strict=False))]
    # Replies that are alike to the last word are replies all the same.
    while common and common[-1].role == "system" and len(common) == min(map(len, talks)):
        common.pop()
    context = tuple(Segment(str(place), turn.role, turn.text) for place, turn in enumerate(common))
    replies = tuple(
        Segment(
            name, "system", _joined(talk[len(common) :]), metadata={"system": str(value[f"model_{side}"])}
        )
        for name, side, talk in zip((FIRST, SECOND), _SIDES, talks, strict=True)
    )
    segments = context + replies
    document = Document(id, segments, options.language_of(segments), {"dialogue": dialogue})
    winner = _winner(value, record.where)
    if winner is None:
        return Entry(id, document)
    judge = value.get("judge")
    name = str(judge) if isinstance(judge, str) and judge else anonymous_annotator(1)
    answers = {QUESTION: with_order(winner, ORDERS[0])}
    return Entry(id, document, (Judgment(id, None, name, SCHEME, VERSION, answers),))


def _turns(value: Mapping[str, Any], side: str, where: str) -> list[Turn]:
    """The whole talk with one model."""
    if f"conversation_{side}" in value:
        found = json_text(value[f"conversation_{side}"])
        if isinstance(found, list) and all(isinstance(one, Mapping) for one in found):
            return [
                Turn(_ROLES.get(str(one.get("role")), "system"), str(one.get("content") or ""))
                for one in found
            ]
        raise InputError("arena-needs", where=where)
    asked, said = (_texts(value.get(name)) for name in ("prompt", f"response_{side}"))
    return [
        Turn(role, text)
        for one, other in zip(asked, said, strict=False)
        for role, text in (("user", one), ("system", other))
    ]


def _texts(value: Any) -> list[str]:
    """A text, or a list of them, also where a cell holds it as JSON."""
    found = json_text(value)
    if isinstance(found, list):
        return [str(one or "") for one in found]
    return [str(found if found is not None else "")]


def _joined(turns: list[Turn]) -> str:
    """What follows the context, as one text: later turns of a person stand in it, after a sign."""
    return "\n\n".join(f"> {turn.text}" if turn.role == "user" else turn.text for turn in turns)


def _winner(value: Mapping[str, Any], where: str) -> str | None:
    winner = value.get("winner")
    if winner is None:
        flags = {"A": "winner_model_a", "B": "winner_model_b", "both": "winner_tie"}
        return next((label for label, name in flags.items() if str(value.get(name)) in ("1", "True")), None)
    if (label := _WINNERS.get(str(winner).strip().lower())) is None:
        raise InputError("arena-winner", where=where, winner=winner)
    return label
