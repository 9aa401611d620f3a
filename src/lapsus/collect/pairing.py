"""Replies of two systems to the same context, side by side: from their logs, or asked for now."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import TypeAlias

from lapsus.collect.systems import TalkSoFar, make_system
from lapsus.kinds.preference import FIRST, SECOND
from lapsus.model import TALK, Document, Segment
from lapsus.store.collect_plan import System

Context: TypeAlias = tuple[Segment, ...]
_OTHER = {"system": "assistant", "user": "user"}


def paired(logs: Sequence[tuple[str, Iterable[Document]]]) -> Iterator[Document]:
    """For every context that several systems have answered, each two of their replies.

    `logs` are the documents of each file with the name that its system has where they do not name it themselves.
    """
    contexts: dict[tuple[tuple[str, str], ...], tuple[Document, Context, dict[str, str]]] = {}
    for name, documents in logs:
        for document in documents:
            turns = [segment for segment in document.segments if segment.role in TALK]
            for place, turn in enumerate(turns):
                if turn.role != "system" or not place:
                    continue
                context = tuple(turns[:place])
                key = tuple((one.role, one.text) for one in context)
                known = contexts.setdefault(key, (document, context, {}))
                known[2].setdefault(document.system or name, turn.text)
    for document, context, replies in contexts.values():
        yield from _pairs(document, context, replies)


def asked(documents: Iterable[Document], systems: Sequence[str]) -> Iterator[Document]:
    """What each two systems reply now to the last thing that a person said in each document."""
    repliers = [(name, make_system(System(name))) for name in systems]
    for document in documents:
        turns = [segment for segment in document.segments if segment.role in TALK]
        last = max((place for place, turn in enumerate(turns) if turn.role == "user"), default=None)
        if last is None:
            continue
        context = tuple(turns[: last + 1])
        messages = tuple({"role": _OTHER[one.role], "content": one.text} for one in context)
        talk = TalkSoFar(document.id, document.language or "en", messages)
        yield from _pairs(document, context, {name: one.reply(talk).text for name, one in repliers})


def _pairs(document: Document, context: Context, replies: dict[str, str]) -> Iterator[Document]:
    for names in combinations(sorted(replies), 2):
        id = f"{document.id}/{len(context)}/{names[0]}-{names[1]}"
        # By lot, and the same every time: neither system is always the first.
        if hashlib.blake2b(id.encode(), digest_size=1).digest()[0] % 2:
            names = names[::-1]
        yield Document(
            id,
            (
                *(Segment(str(place), one.role, one.text) for place, one in enumerate(context)),
                *(
                    Segment(place, "system", replies[name], metadata={"system": name})
                    for place, name in zip((FIRST, SECOND), names, strict=True)
                ),
            ),
            document.language,
            {"dialogue": document.id},
        )
