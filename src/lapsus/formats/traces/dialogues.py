"""Calls of a language model put together into dialogues, every turn once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

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
    instructions = ""
    turns: list[Turn] = []
    for line in main_lines(calls, options.dropped, options.mended):
        turns += line.turns
        for asked, _ in line.calls:
            instructions = instructions or asked.instructions
            metadata |= {key: value for key, value in asked.call.document.items() if key not in metadata}
    models = {
        str(turn.asked.call.turn["model"]) for turn in turns if turn.asked and "model" in turn.asked.call.turn
    }
    if models:
        metadata.setdefault("system", ", ".join(sorted(models)))
    segments = [segment for place, turn in enumerate(turns) for segment in _segments(place, turn)]
    return [
        Segment("prompt", "prompt", instructions),
        *segments,
    ] if instructions and turns else segments, metadata


def _segments(place: int, turn: Turn) -> Iterator[Segment]:
    """A turn under its number, and before it what stood behind it."""
    for inner, behind in enumerate(turn.behind, 1):
        yield Segment(f"{place}.{inner}", behind.role, behind.text, None, behind.metadata)
    said = turn.message
    metadata = {**said.metadata, **turn.asked.call.turn} if turn.asked else said.metadata
    yield Segment(str(place), said.role, said.text, None, metadata)
