"""Calls of a language model put together into dialogues, every turn once.

A call repeats the talk before it. Followed from call to call, that gives lines of talk, which part where a reply was
generated again or another program was asked about the same words. The line with the most exchanges is the talk.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lapsus.formats.base import ReadOptions
from lapsus.formats.messages import Message
from lapsus.formats.traces.calls import MODEL_CALL, Call, put_together
from lapsus.model import TALK, Segment
from lapsus.notices import Notice

BESIDE = Notice("calls-beside-conversation")
LOOSE = Notice("calls-repeat-nothing-talk")
LOOKED_AT = 20
"""How many lines a call is compared with, those continued last first: a log with thousands stays quick to read."""


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


class Turn(NamedTuple):
    """Something said, what stood behind it, and the call that said it, where one is known."""

    message: Message
    behind: tuple[Message, ...] = ()
    """Calls of tools, their results and passages that came right before it."""
    asked: TalkCall | None = None


class TalkCall(NamedTuple):
    """A call as a part of the talk."""

    number: int
    """Its place in the order of time."""
    call: Call
    heard: list[Turn]
    keys: list[int]
    """What was heard, a number for the same words of the same role."""
    ends: dict[int, list[int]]
    """By number, how much was heard up to and with these words, the latest first."""
    said: list[Turn]
    said_keys: list[int]
    instructions: str
    """What the model was told to be: a program of its own has its own."""

    @property
    def trace(self) -> str | None:
        """The trace that it stands in."""
        return self.call.turn.get("trace_id")


class Fit(NamedTuple):
    """How a call goes on from a line: how much they share, how much of the line stays, what of the call is known."""

    shared: int
    stays: int
    known: int


@dataclass(eq=False)
class Line:
    """Talk in which each call repeats what was said before it."""

    root: int
    """The same for lines that have a common beginning."""
    turns: list[Turn] = field(default_factory=list)
    keys: list[int] = field(default_factory=list)
    calls: list[tuple[TalkCall, int]] = field(default_factory=list)
    """Each call, and how many turns there were after it."""

    def continued(self, asked: TalkCall, fit: Fit) -> Line:
        """The line as this call continues it: a new one where the call does not begin at the end."""
        line = self if fit.stays == len(self.turns) else self._begun(fit.stays)
        line.turns += asked.heard[fit.known :]
        line.turns += [turn._replace(asked=asked) for turn in asked.said]
        line.keys += asked.keys[fit.known :] + asked.said_keys
        line.calls.append((asked, len(line.turns)))
        return line

    def _begun(self, size: int) -> Line:
        calls = [(call, end) for call, end in self.calls if end <= size]
        return Line(self.root, self.turns[:size], self.keys[:size], calls)

    @property
    def first(self) -> TalkCall:
        """The call that began it."""
        return self.calls[0][0]

    @property
    def last(self) -> TalkCall:
        """The call that continued it last."""
        return self.calls[-1][0]

    def weight(self) -> tuple[int, int, int, int, int]:
        """The line with most questions answered is the talk.

        Of equal ones that of one program, then that which tells of more answers before, then the first to begin; of
        those that begin alike, the latest.
        """
        pairs = zip(self.turns, self.turns[1:], strict=False)
        answers = [turn for before, turn in pairs if before.message.role == "user" != turn.message.role]
        answered = sum(turn.asked is not None for turn in answers)
        alike = sum(asked.instructions == self.last.instructions for asked, _ in self.calls)
        return answered, alike, len(answers), -self.root, self.last.number


def main_lines(calls: Sequence[Call], dropped: Counter[str], mended: Counter[str]) -> list[Line]:
    """The lines that are the talk, one after the other.

    Calls beside it are counted in `dropped`, doubtful ones that are kept in `mended`.
    """
    asked = _asked(calls)
    if all(len(one.heard) <= 1 for one in asked):
        # No call has a history, so nothing tells which belong together.
        mended.update([LOOSE] * sum(one.instructions != asked[0].instructions for one in asked))
        return [_as_they_come(asked)]
    lines = _lines(asked)
    main = max(lines, key=Line.weight)
    claimed = _claim(main, asked)
    kept = _kept(main, [line for line in lines if line.first.number not in claimed])
    mended.update([LOOSE] * (len(kept) - 1))
    stay = {call.number for line in kept for call, _ in line.calls} | claimed
    # A reply that was generated again took the place of the one before, which is nothing to tell.
    replaced = {(tuple(asked[number].keys), asked[number].instructions) for number in stay}
    beside = [one for one in asked if one.number not in stay]
    dropped.update([BESIDE] * sum((tuple(one.keys), one.instructions) not in replaced for one in beside))
    return kept


def _asked(calls: Iterable[Call]) -> list[TalkCall]:
    known: dict[tuple[str, str], int] = {}

    def keys(turns: list[Turn]) -> list[int]:
        messages = (turn.message for turn in turns)
        return [known.setdefault((one.role, one.text.strip()), len(known)) for one in messages]

    found = []
    for number, call in enumerate(calls):
        heard, behind = _turns(call.heard)
        said, _ = _turns([*behind, *(message for message in call.said if message.role != "user")])
        told = "\n".join(message.text for message in call.heard if message.role == "prompt")
        numbers = keys(heard)
        found.append(TalkCall(number, call, heard, numbers, _ends(numbers), said, keys(said), told))
    return found


def _turns(messages: Iterable[Message]) -> tuple[list[Turn], list[Message]]:
    """What was said, each with what stood behind it; and what nothing said came after."""
    turns: list[Turn] = []
    behind: list[Message] = []
    for message in messages:
        if message.role in TALK:
            turns.append(Turn(message, tuple(behind)))
            behind = []
        elif message.role != "prompt":
            behind.append(message)
    return turns, behind


def _ends(keys: Sequence[int]) -> dict[int, list[int]]:
    ends: dict[int, list[int]] = {}
    for size in range(len(keys), 0, -1):
        ends.setdefault(keys[size - 1], []).append(size)
    return ends


def _as_they_come(asked: Iterable[TalkCall]) -> Line:
    line = Line(0)
    for one in asked:
        fit = _again(line, one) or _overlap(line, one) or Fit(0, len(line.turns), 0)
        line = line.continued(one, fit)
    return line


def _lines(asked: Iterable[TalkCall]) -> list[Line]:
    """All lines, the one continued last at the end."""
    lines: list[Line] = []
    for one in asked:
        # The same words alone may be said twice, so without a history only the latest line can be meant.
        reach = lines[-LOOKED_AT:] if len(one.heard) > 1 else lines[-1:]
        fits = [(fit, place) for place, line in enumerate(reversed(reach), 1) if (fit := _fit(line, one))]
        if not fits:
            lines.append(Line(one.number).continued(one, Fit(0, 0, 0)))
            continue
        fit, place = max(fits, key=lambda found: found[0].shared)
        line = lines[-place].continued(one, fit)
        if line is lines[-place]:
            del lines[-place]
        lines.append(line)
    return lines


def _fit(line: Line, asked: TalkCall) -> Fit | None:
    fits = [fit for way in (_again, _overlap, _fork) if (fit := way(line, asked))]
    return max(fits, key=lambda fit: fit.shared, default=None)


def _again(line: Line, asked: TalkCall) -> Fit | None:
    """The call answers once more what the line ends with: a retry, or one call traced twice."""
    end, size = len(line.turns), len(asked.heard)
    while end and line.turns[end - 1].message.role == "system":
        end -= 1
    if not size or size > end or end == len(line.turns) or line.keys[end - size : end] != asked.keys:
        return None
    replied = line.turns[-1].asked
    same_trace = replied is not None and replied.trace == asked.trace is not None
    # Where only the newest message was given, somebody may say the same thing twice.
    return Fit(size, end, size) if size == end or same_trace else None


def _overlap(line: Line, asked: TalkCall) -> Fit | None:
    """What was heard begins with the line, or with the latest part of it."""
    for size in asked.ends.get(line.keys[-1], ()) if line.keys else ():
        if line.keys[-size:] == asked.keys[:size]:
            return Fit(size, len(line.turns), size)
    return None


def _fork(line: Line, asked: TalkCall) -> Fit | None:
    """Both begin alike for at least one exchange, then the call goes another way."""
    least, most = 0, min(len(line.keys), len(asked.keys))
    while least < most:
        # By halves, for histories are long and there are many lines.
        middle = (least + most + 1) // 2
        least, most = (middle, most) if line.keys[:middle] == asked.keys[:middle] else (least, middle - 1)
    return Fit(least, least, least) if least > 1 else None


def _claim(main: Line, asked: Iterable[TalkCall]) -> set[int]:
    """Give turns that only a later history tells of to the calls that said them."""
    members = {call.number for call, _ in main.calls}
    said: dict[tuple[int | None, int], TalkCall] = {
        (one.keys[-1] if one.keys else None, one.said_keys[0]): one
        for one in asked
        if one.number not in members and one.said_keys
    }
    claimed = set()
    for place, turn in enumerate(main.turns):
        if turn.asked is None and turn.message.role == "system":
            before = main.keys[place - 1] if place else None
            one = said.get((before, main.keys[place])) or said.get((None, main.keys[place]))
            if one:
                main.turns[place] = turn._replace(asked=one)
                claimed.add(one.number)
    return claimed


def _kept(main: Line, lines: Iterable[Line]) -> list[Line]:
    """The main line, and before and after it others that may be of the same talk, in the order of time."""
    kept, ends, roots = [main], [(main.first.number, main.last.number)], {main.root: True}
    is_alike = _alike(main)
    for line in sorted(lines, key=Line.weight, reverse=True):
        alone = len(line.calls) == 1
        # Forks of talk that goes on are replies that were replaced; a question alone may come again.
        if roots.get(line.root, False) or len(line.first.heard) > 1 or (alone and not is_alike(line.first)):
            continue
        span = (line.first.number, line.last.number)
        place = bisect(ends, span)
        if (place and ends[place - 1][1] >= span[0]) or (place < len(ends) and ends[place][0] <= span[1]):
            continue
        ends.insert(place, span)
        kept.insert(place, line)
        roots[line.root] = not alone
    return kept


def _alike(main: Line) -> Callable[[TalkCall], bool]:
    """Whether a call is of the program that leads the talk, as far as its instructions and its model tell."""
    instructions = _habit([call.instructions for call, _ in main.calls])
    models = _habit([str(call.call.turn.get("model")) for call, _ in main.calls])
    return lambda one: instructions(one.instructions) and models(str(one.call.turn.get("model")))


def _habit(values: Sequence[str]) -> Callable[[str], bool]:
    """Whether a value is one of these. Where each of several is another (instructions with a clock), any is."""
    known = set(values)
    return lambda value: value in known or len(known) == len(values) > 1
