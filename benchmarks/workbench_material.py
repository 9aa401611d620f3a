"""What both workbenches are given: the same invented chats, people and answers."""

from __future__ import annotations

from typing import Literal, NamedTuple

from lapsus.model import Document, Segment

TURNS = 10
"""Turns of the system in a chat; each is judged."""
LABELS = ("O", "T", "X")
CLIENTS = 10
_TEXT = (
    "well the weather in the harbour was fine so we took the early boat and had soup on the way back"
    " before anybody noticed that the cat was still asleep under the piano in the blue room"
)


class Sizes(NamedTuple):
    """How much there is."""

    levels: tuple[int, ...] = (0, 1_000, 100_000)
    """Judgments that are there before the clients begin."""
    free: int = 60
    """Chats that nobody has judged: what the clients judge."""
    serial: int = 120
    """Saves of the one client that is alone."""
    seconds: float = 8.0
    """After this long the ten clients stop, should they not be through."""

    @property
    def judged(self) -> int:
        """Chats that all ten have judged at the highest level."""
        return max(self.levels) // (TURNS * CLIENTS)

    @property
    def chats(self) -> int:
        return self.judged + self.free


def person(number: int) -> str:
    """The name of a client."""
    return f"annotator{number:02d}"


PEOPLE = tuple(person(number) for number in range(CLIENTS))


def answer(number: int, unit: int) -> str:
    """What a client says about a unit."""
    return LABELS[(number + unit) % len(LABELS)]


def chat(number: int) -> Document:
    """A chat of twenty short turns, no two alike."""
    segments = tuple(
        Segment(str(place), _role(place), _said(number * 2 * TURNS + place)) for place in range(2 * TURNS)
    )
    return Document(f"chat-{number:05d}", segments, "en")


def chats(sizes: Sizes) -> list[Document]:
    return [chat(number) for number in range(sizes.chats)]


def _role(place: int) -> Literal["user", "system"]:
    return "system" if place % 2 else "user"


def _said(number: int) -> str:
    all_words = _TEXT.split()
    start, length = number % len(all_words), 6 + number % 7
    words = (all_words * 2)[start : start + length]
    return f"{' '.join(words)}, number {number}."
