"""Chats from which a judge can learn something, and people who judge them."""

from __future__ import annotations

from lapsus.model import Document, Segment

GOOD = (
    "I had noodles for lunch, and you?",
    "The soup there is really good.",
    "Shall we try the new bakery tomorrow?",
    "My sister bakes bread on Sundays.",
)
BAD = (
    "Parliament adjourned the fiscal hearing.",
    "Error 404 null pointer stack.",
    "The tax form is due in triplicate.",
    "Kernel module failed to load.",
)
ASKED = ("What did you eat today?", "Do you like cooking?", "Where do you buy bread?")


def chat(number: int, turns: int = 4) -> Document:
    """A talk about food in which every other answer is about something else."""
    segments = []
    for turn in range(turns):
        choices = BAD if (number + turn) % 2 else GOOD
        segments.append(Segment(f"u{turn}", "user", ASKED[(number + turn) % len(ASKED)]))
        segments.append(Segment(f"s{turn}", "system", f"{choices[(number * 3 + turn) % len(choices)]}"))
    return Document(f"d{number:02}", tuple(segments), "en")


def label(text: str) -> str:
    return "X" if text in BAD else "O"
