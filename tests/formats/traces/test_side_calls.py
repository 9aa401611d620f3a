"""Calls beside the talk: a title, a router, a guard. The talk stays whole; they are left out and counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lapsus.formats import EntryStream, read
from lapsus.formats.traces.dialogues import BESIDE, LOOSE
from lapsus.model import Document, Segment
from tests.formats.traces.test_traces import put

BOT, TITLE = "You help with parcels.", "Write a title."
Q1, R1, Q2, R2, Q3, R3 = "Where is it?", "On its way.", "When?", "Tomorrow.", "Sure?", "Quite."
TALK = [Q1, R1, Q2, R2, Q3, R3]
MAIN: list[tuple[str, list[str], str]] = [(BOT, [Q1], R1), (BOT, TALK[:3], R2), (BOT, TALK[:5], R3)]


def call(number: int, told: str, heard: list[str], said: str, **more: Any) -> dict[str, Any]:
    """A generation of Langfuse. User and model take turns in what it heard, the user last."""
    roles = ("assistant", "user")
    messages = [
        {"role": roles[(len(heard) - place) % 2], "content": text} for place, text in enumerate(heard)
    ]
    system = [{"role": "system", "content": told}] if told else []
    time = f"2026-01-02T00:{number // 60:02d}:{number % 60:02d}Z"
    ids = {"id": f"o{number}", "traceId": f"t{number}", "sessionId": "visit", "type": "GENERATION"}
    return {
        **ids,
        "startTime": time,
        "model": "parrot",
        "input": system + messages,
        "output": said,
        **more,
    }


def reading_of(folder: Path, *calls: tuple[str, list[str], str]) -> tuple[Document, EntryStream]:
    reading = read(put(folder, "x.jsonl", *(call(number, *one) for number, one in enumerate(calls))))
    (entry,) = reading
    assert entry.document is not None
    return entry.document, reading


def texts(document: Document) -> list[str]:
    return [segment.text for segment in turns(document)]


def turns(document: Document) -> list[Segment]:
    return [segment for segment in document.segments if segment.role in ("user", "system")]


SIDE = (TITLE, [f"Title for: {Q1}"], "Parcel query")


@pytest.mark.parametrize("place", range(4))
def test_a_title_or_a_router_is_no_turn_wherever_it_stands(place: int, tmp_path: Path) -> None:
    document, reading = reading_of(tmp_path, *MAIN[:place], SIDE, *MAIN[place:])
    assert texts(document) == TALK
    assert document.segments[0] == Segment("prompt", "prompt", BOT)
    spans = [f"o{number}" for number in range(4) if number != place]
    assert [turns(document)[turn].metadata["span_id"] for turn in (1, 3, 5)] == spans
    assert reading.options.dropped == {BESIDE: 1}


@pytest.mark.parametrize("place", range(4))
def test_a_guard_that_is_asked_the_same_does_not_take_the_place_of_the_reply(
    place: int, tmp_path: Path
) -> None:
    guard = ("Is this safe?", [Q1, Q1, Q2, Q3][place : place + 1], "safe")
    document, reading = reading_of(tmp_path, *MAIN[:place], guard, *MAIN[place:])
    assert texts(document) == TALK
    assert reading.options.dropped == {BESIDE: 1}


def test_a_router_that_reads_the_whole_history(tmp_path: Path) -> None:
    routers = [("Which desk?", heard, f"desk {len(heard)}") for _, heard, _ in MAIN]
    both = [one for pair in zip(MAIN, routers, strict=True) for one in pair]
    document, reading = reading_of(tmp_path, *both)
    assert texts(document) == TALK
    assert reading.options.dropped == {BESIDE: 3}


def test_later_histories_tell_even_without_instructions(tmp_path: Path) -> None:
    bare = [("", heard, said) for _, heard, said in MAIN]
    document, reading = reading_of(tmp_path, *bare[:2], ("", ["Title?"], "Parcels"), bare[2])
    assert texts(document) == TALK
    assert reading.options.dropped == {BESIDE: 1}


def test_where_nothing_tells_a_call_is_kept_and_said(tmp_path: Path) -> None:
    document, reading = reading_of(tmp_path, *MAIN, (BOT, ["Bye."], "Bye!"))
    assert texts(document) == [*TALK, "Bye.", "Bye!"]
    assert reading.options.dropped == {}
    assert reading.options.mended == {LOOSE: 1}


def test_another_model_tells_as_instructions_do(tmp_path: Path) -> None:
    calls = [call(number, "", heard, said) for number, (_, heard, said) in enumerate(MAIN)]
    path = put(tmp_path, "x.jsonl", *calls, call(9, "", ["Title?"], "Parcels", model="tiny"))
    (entry,) = read(path)
    assert entry.document is not None
    assert texts(entry.document) == TALK


def test_instructions_with_a_clock_tell_nothing(tmp_path: Path) -> None:
    clocked = [(f"{told} It is {hour} h.", *rest) for hour, (told, *rest) in enumerate(MAIN)]
    document, _ = reading_of(tmp_path, *clocked, (f"{BOT} It is 9 h.", ["Bye."], "Bye!"))  # type: ignore[arg-type]
    assert texts(document) == [*TALK, "Bye.", "Bye!"]


def test_calls_without_any_history_are_all_turns(tmp_path: Path) -> None:
    document, reading = reading_of(
        tmp_path, ("", [Q1], R1), ("", [Q2], R2), ("", [Q2], R3), ("Sum up.", ["x"], "y")
    )
    assert texts(document) == [Q1, R1, Q2, R2, Q2, R3, "x", "y"]
    assert reading.options.dropped == {}
    assert reading.options.mended == {LOOSE: 1}


def test_a_second_talk_of_the_same_visit_follows_the_first(tmp_path: Path) -> None:
    second = [(BOT, [Q1], "Which one?"), (BOT, [Q1, "Which one?", "The red."], "Here.")]
    document, _ = reading_of(tmp_path, *MAIN, *second)
    assert texts(document) == [*TALK, Q1, "Which one?", "The red.", "Here."]


def test_a_changed_question_replaces_what_was_asked_before(tmp_path: Path) -> None:
    changed = (BOT, [Q1, R1, "How?"], "By train.")
    document, reading = reading_of(tmp_path, *MAIN[:2], changed)
    assert texts(document) == [Q1, R1, "How?", "By train."]
    assert turns(document)[1].metadata["span_id"] == "o0"
    assert reading.options.dropped == {BESIDE: 1}


def test_a_talk_handed_to_another_program_goes_on(tmp_path: Path) -> None:
    document, reading = reading_of(tmp_path, MAIN[0], ("You do bills.", *MAIN[1][1:]))
    assert texts(document) == TALK[:4]
    assert reading.options.dropped == {}


def test_histories_that_begin_late_claim_the_calls_before(tmp_path: Path) -> None:
    document, reading = reading_of(tmp_path, ("", [Q1], R1), ("", [Q2], R2), ("", TALK[:5], R3))
    assert texts(document) == TALK
    assert [turns(document)[turn].metadata["span_id"] for turn in (1, 3, 5)] == ["o0", "o1", "o2"]
    assert reading.options.dropped == {}


def test_windows_that_slide_and_replies_generated_again(tmp_path: Path) -> None:
    again = (BOT, [Q1], "Not known.")
    document, reading = reading_of(tmp_path, again, MAIN[0], MAIN[1], (BOT, [R1, Q2, R2, Q3], R3))
    assert texts(document) == TALK
    assert reading.options.dropped == {}


def test_a_long_log_of_many_programs_stays_quick(tmp_path: Path) -> None:
    talk: list[str] = []
    calls: list[tuple[str, list[str], str]] = []
    for turn in range(300):
        talk.append(f"question {turn}")
        calls += [(TITLE, [f"Title for {turn}"], f"title {turn}"), (BOT, list(talk), f"reply {turn}")]
        talk.append(f"reply {turn}")
    document, reading = reading_of(tmp_path, *calls)
    assert texts(document) == talk
    assert reading.options.dropped == {BESIDE: 300}
