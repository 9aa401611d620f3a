"""Every word of the pages is there in both languages, and is used."""

from __future__ import annotations

from pathlib import Path
from string import Formatter
from typing import get_args

import pytest
import regex

import lapsus.store
import lapsus.web
from lapsus.store import CampaignState
from lapsus.store.challenge_records import ChallengeState
from lapsus.web.error_responses import STATUS
from lapsus.web.page_words import refusal, say, words
from lapsus.word_files import LANGUAGES

WEB = Path(lapsus.web.__file__).parent
TEMPLATES = sorted(WEB.rglob("*.html"))
CALL = regex.compile(r'\bw\(\s*"([^"]+)"(\s*~)?')
MADE = regex.compile(r'\bw\(\s*"([^"]+)"\s*~[^}]*?(?:~\s*"(\.[^"]+)"\)|\}\})')

EVENT = regex.compile(r'\b(?:note\(\s*conn,|_change\(\s*person,|take_back\(conn, \w+, \w+,)\s*f?"([^"]+)"')


def places(text: str) -> set[str | None]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def test_both_languages_have_the_same_words_with_the_same_places() -> None:
    english, japanese = words("en"), words("ja")
    assert set(english) == set(japanese)
    assert {key for key in english if places(english[key]) != places(japanese[key])} == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_word_is_empty(language: str) -> None:
    assert [key for key, text in words(language).items() if not text.strip()] == []


def test_what_templates_say_is_in_the_lists_of_words() -> None:
    known = words("en")
    asked = [(path.name, *call) for path in TEMPLATES for call in CALL.findall(path.read_text("utf-8"))]
    assert len(asked) > 50
    missing = [
        (name, key)
        for name, key, is_made in asked
        if not (any(word.startswith(key) for word in known) if is_made else key in known)
    ]
    assert missing == []


def test_the_words_around_judging_are_all_used() -> None:
    pages = [path.read_text("utf-8") for path in TEMPLATES]
    whole = {key for page in pages for key, is_made in CALL.findall(page) if not is_made}
    made = [
        regex.compile(rf"{regex.escape(start)}[^.]+{regex.escape(end)}")
        for page in pages
        for start, end in MADE.findall(page)
    ]
    unused = {
        key
        for key in words("en")
        if key.startswith("pages.") and key not in whole and not any(kind.fullmatch(key) for kind in made)
    }
    assert unused == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_refusal_has_its_words(language: str) -> None:
    # Rules say themselves what is broken, and what a shape lacks is for programmers.
    assert [reason for reason in STATUS if not refusal(reason, language)] == ["rules", "shape"]


def test_a_word_that_nobody_has_is_its_key() -> None:
    assert say("pages.nothing", "ja") == "pages.nothing"


def test_every_event_of_the_audit_trail_has_its_words() -> None:
    sources = [path.read_text("utf-8") for path in Path(lapsus.store.__file__).parent.glob("*.py")]
    found = {event for source in sources for event in EVENT.findall(source)}
    assert {"consented", "signed out", "team added", "units given back"} <= found
    states = {
        "campaign {state}": set(get_args(CampaignState)) - {"draft"},
        "challenge {state}": get_args(ChallengeState),
    }
    for event, known in states.items():
        found.remove(event)
        found |= {event.format(state=state) for state in known}
    assert {event for event in found if f"administration.events.{event}" not in words("en")} == set()
