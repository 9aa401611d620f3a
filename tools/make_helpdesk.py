"""Makes the sample `helpdesk-en`: invented chats of two invented help desks, judged by two simulated people.

    python tools/make_helpdesk.py [FOLDER]

Every chat takes one subject from question to question. A system slips now and then: it answers something else, says
again what it said, or says nothing of use. People mostly see that, and sometimes do not.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

from lapsus.formats import convert
from lapsus.model import Document, Entry, Judgment, Segment

CHATS = 48
TURNS = 5
SLIPS = {"Heron": 0.18, "Lark": 0.40}
PEOPLE = {"rin": 0.08, "sol": 0.14}
"""How often a person answers otherwise than the turn deserves."""
SUBJECTS: dict[str, list[tuple[str, str]]] = {
    "library": [
        (
            "When does the library open on Saturday?",
            "On Saturdays the library opens at ten and closes at four.",
        ),
        (
            "Can I renew a book by phone?",
            "Yes, call the desk with your card number and we renew it for three weeks.",
        ),
        ("How many books may I take home?", "You may borrow up to twelve books at a time."),
        ("What does a late book cost?", "A late book costs twenty cents a day, at most five euros."),
        (
            "Is there a room where we can talk?",
            "Yes, the group room on the first floor can be booked for two hours.",
        ),
        ("Do you have comics?", "We do, the comics are on the second floor, next to the stairs."),
    ],
    "bike": [
        (
            "My rental bike has a flat tyre.",
            "I am sorry about that. Leave it at any station and take another one.",
        ),
        ("Do I pay for the broken one?", "No, a bike that is reported broken costs you nothing."),
        ("Where is the nearest station?", "The nearest station is at the north gate, two minutes on foot."),
        ("How long may I keep a bike?", "You can keep a bike for up to two hours, then a new hour begins."),
        (
            "Can I take it on the train?",
            "Rental bikes may not go on trains, but there is a station at every stop.",
        ),
        ("Is a helmet included?", "Helmets are not included; you can rent one for a euro at the north gate."),
    ],
    "soup": [
        ("What soup do you have today?", "Today there is lentil soup and a cold cucumber soup."),
        ("Is the lentil soup vegan?", "Yes, the lentil soup is vegan, without butter or cream."),
        ("How big is a bowl?", "A small bowl holds a quarter of a litre, a large one half a litre."),
        ("Can you deliver to Mill Lane?", "We deliver to Mill Lane until eight in the evening."),
        ("How long does it take?", "Delivery takes about thirty minutes at this hour."),
        ("Can I pay the driver in cash?", "Yes, the driver takes cash and cards."),
    ],
    "swim": [
        ("Is the pool heated?", "Yes, the pool is kept at twenty-six degrees all year."),
        ("When are the lanes free?", "The lanes are free for everybody from six to eight in the morning."),
        ("Do you teach children?", "We do, beginners of five to eight meet on Tuesday afternoons."),
        ("What should my son bring?", "He needs a towel, a cap and something dry for afterwards."),
        ("May I watch the lesson?", "You may watch the first and the last lesson from the benches."),
        ("What if he is ill?", "If he is ill you can make up for one missed lesson a term."),
    ],
    "parcel": [
        ("Where is my parcel?", "Your parcel is at the depot and will be on the van tomorrow morning."),
        (
            "Can it come in the evening?",
            "Yes, I can move the delivery to between six and nine in the evening.",
        ),
        ("I will not be home.", "Then we can leave it with a neighbour or at the shop on the corner."),
        (
            "Please leave it at the shop.",
            "Done, you can fetch it at the corner shop from four o'clock tomorrow.",
        ),
        ("How long do they keep it?", "The shop keeps parcels for seven days."),
        ("Do I need my passport?", "Any card with your photo and name will do."),
    ],
    "garden": [
        (
            "When should I plant tomatoes?",
            "Plant tomatoes outside in the middle of May, after the last frost.",
        ),
        ("How often do they need water?", "Water them every two days, and every day when it is hot."),
        (
            "Their leaves turn yellow.",
            "Yellow leaves at the bottom often mean too much water or too little nitrogen.",
        ),
        ("What can I do against snails?", "A ring of coarse sand keeps most snails away, and so do ducks."),
        ("Can I grow them on a balcony?", "Yes, in a pot of ten litres and with five hours of sun."),
        (
            "When can I pick the first ones?",
            "About ten weeks after planting you can pick the first tomatoes.",
        ),
    ],
}
VAGUE = (
    "I see. Please tell me more.",
    "That is interesting!",
    "There are many things one could say.",
    "Okay.",
)


def chat(number: int, rng: random.Random) -> Entry:
    system = "Heron" if number % 2 == 0 else "Lark"
    name = f"help-{number:02d}"
    subject = rng.choice(list(SUBJECTS))
    segments: list[Segment] = []
    judgments: list[Judgment] = []
    for question, right in rng.sample(SUBJECTS[subject], TURNS):
        before = [segment.text for segment in segments if segment.role == "system"]
        reply, deserved = slip(subject, right, before, rng) if rng.random() < SLIPS[system] else (right, "O")
        segments.append(Segment(str(len(segments)), "user", question))
        segments.append(Segment(str(len(segments)), "system", reply))
        for who, mistakes in PEOPLE.items():
            label = (
                deserved
                if rng.random() >= mistakes
                else rng.choice({"O": "TTX", "T": "OX", "X": "TTO"}[deserved])
            )
            answers = {"breakdown": label}
            judgments.append(Judgment(name, segments[-1].id, who, "breakdown", "1.0", answers))
    metadata = {"system": system, "invented": True}
    return Entry(name, Document(name, tuple(segments), "en", metadata), tuple(judgments))


def slip(subject: str, right: str, before: list[str], rng: random.Random) -> tuple[str, str]:
    """A reply that is none, and what it deserves."""
    how = rng.choice(("elsewhere", "elsewhere", "again", "vague"))
    if how == "again" and before:
        return before[-1], "X"
    if how == "vague":
        return rng.choice(VAGUE), "T"
    other = rng.choice([name for name in SUBJECTS if name != subject])
    return rng.choice(SUBJECTS[other])[1], "X"


def main(folder: Path) -> None:
    rng = random.Random(7)
    convert(
        (chat(number, rng) for number in range(1, CHATS + 1)),
        folder / "helpdesk-en.jsonl",
        "jsonl",
        overwrite=True,
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "src" / "lapsus" / "samples")
