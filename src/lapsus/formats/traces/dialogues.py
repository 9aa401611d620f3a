"""Calls of a language model put together into dialogues, every turn once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from lapsus.formats.base import ReadOptions
from lapsus.formats.traces.calls import MODEL_CALL, Call, put_together
from lapsus.formats.traces.lines import Turn, main_lines
from lapsus.model import Segment


def dialogue_of(calls: Sequence[Call], options: ReadOptions) -> tuple[list[Segment], dict[str, Any]]:
    """The turns of a conversation, each once, and its metadata, from calls in the order of time.

    A call repeats the history before it, all of it or its latest part; what is new of it is added. A reply that was
    generated again takes the place of the one before. Calls beside the conversation (a title's, a router's) and those
    about which there is doubt are counted in the options.
    """
    calls = put_together(calls)
    if any(call.rank == MODEL_CALL for call in calls):
        calls = [call for call in calls if call.rank == MODEL_CALL]
    metadata: dict[str, Any] = {}
    turns: list[Turn] = []
    for line in main_lines(calls, options.dropped, options.mended):
        turns += line.turns
        for asked, _ in line.calls:
            if asked.instructions:
                metadata.setdefault("instructions", asked.instructions)
            metadata |= {key: value for key, value in asked.call.document.items() if key not in metadata}
    models = {
        str(turn.asked.call.turn["model"]) for turn in turns if turn.asked and "model" in turn.asked.call.turn
    }
    if models:
        metadata.setdefault("system", ", ".join(sorted(models)))
    return [_segment(place, turn) for place, turn in enumerate(turns)], metadata


def _segment(place: int, turn: Turn) -> Segment:
    metadata = turn.asked.call.turn if turn.asked else {}
    role: Literal["system", "user"] = "system" if turn.message.role == "system" else "user"
    return Segment(str(place), role, turn.message.text, None, metadata)
