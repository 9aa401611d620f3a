"""Invented dialogues to learn from: systems that mostly keep to the subject, and at times repeat themselves,
leave it or talk nonsense. Small, quick, and with something in it to be learned.
"""

from __future__ import annotations

from itertools import cycle

import numpy as np

from lapsus.annotators import METHODS, training_data
from lapsus.annotators.encoder.reader import TurnWords
from lapsus.kinds.votes import collect_votes
from lapsus.model import Document, Entry, Judgment, Segment
from lapsus.model.votes import LabelVotes
from lapsus.schemes import load_scheme

FOR_TURNS = [name for name in METHODS.names() if METHODS.get(name).made_for in (None, "breakdown")]
"""The methods that judge turns. What is made for other guidelines has tests of its own."""
OPENERS = {"en": "Hello! How are you today?", "ja": "こんにちは。今日はどんな一日でしたか？"}
TALK = {
    "en": {
        "garden": [
            ("I planted tomatoes in my garden.", "Tomatoes need sun. Is your garden sunny?"),
            ("Yes, the garden is sunny all day.", "Then the tomatoes will like it there."),
            ("What do tomatoes need most?", "They need water and sun every day."),
            ("My garden is small.", "A small garden is easy to water."),
        ],
        "music": [
            ("I play the piano every evening.", "The piano is lovely. Which songs do you play?"),
            ("Mostly old songs on the piano.", "Old songs sound warm on a piano."),
            ("Do you like music?", "Yes, I like music in the evening."),
            ("Where do you listen to songs?", "I listen to songs at home."),
        ],
        "cooking": [
            ("I cooked soup for dinner.", "Soup is good for dinner. What was in the soup?"),
            ("Carrots and beans from the market.", "Carrots from the market are sweet."),
            ("How long should soup cook?", "Soup should cook for one hour."),
            ("My dinner guests loved the soup.", "Good soup makes dinner guests happy."),
        ],
    },
    "ja": {
        "庭": [
            ("庭にトマトを植えました", "トマトは日当たりが大事ですね。庭は明るいですか？"),
            ("はい、庭は一日中明るいです", "それならトマトもよく育ちますね"),
            ("トマトには何が必要ですか？", "トマトには水と日光が必要です"),
            ("うちの庭は小さいです", "小さい庭は水やりが楽ですね"),
        ],
        "音楽": [
            ("毎晩ピアノを弾いています", "ピアノはいいですね。どんな曲を弾きますか？"),
            ("古い曲をピアノで弾きます", "古い曲はピアノに合いますね"),
            ("音楽は好きですか？", "はい、夜に音楽を聴くのが好きです"),
            ("どこで曲を聴きますか？", "家で曲を聴いています"),
        ],
        "料理": [
            ("夕食にスープを作りました", "夕食のスープはいいですね。スープの具は何ですか？"),
            ("市場の人参と豆です", "市場の人参は甘いですね"),
            ("スープは何時間煮ますか？", "スープは一時間煮ます"),
            ("家族がスープを喜びました", "おいしいスープで家族も元気ですね"),
        ],
    },
}
NONSENSE = {
    "en": [
        "Purple ladders vote the the moon.",
        "Please enter the number of your ticket.",
        "Never window of.",
    ],
    "ja": ["紫のはしごが月を投票の", "ご予約の番号を入力してください", "窓がの決してを"],
}
VOTES = {"good": ("O",) * 7 + ("T",), "odd": ("T",) * 4 + ("X",) * 2 + ("O",) * 2, "bad": ("X",) * 7 + ("T",)}
GREETED = (
    TurnWords(True, "こんにちは。何かお話しましょうか？"),
    TurnWords(False, "こんにちは。今日は暑いですね。"),
)
ASKED = (*GREETED, TurnWords(True, "本当に暑いですね。"), TurnWords(False, "夏の食べ物では何が好きですか？"))
"""Japanese talk, up to a turn of the system."""


def entry(number: int, language: str, seed: int = 0) -> Entry:
    """One dialogue of five system turns. The same number gives the same dialogue."""
    generator = np.random.default_rng([seed, number])
    topics = TALK[language]
    topic = list(topics)[number % len(topics)]
    turns = [("system", OPENERS[language], "good")]
    for user, good in topics[topic]:
        turns.append(("user", user, ""))
        turns.append(("system", *_reply(generator, language, topic, good, turns)))
    segments = tuple(Segment(str(place), role, text) for place, (role, text, _) in enumerate(turns))  # type: ignore[arg-type]
    document = Document(f"{language}-{seed}-{number}", segments, language, {"system": "Invented"})
    return Entry(document.id, document, tuple(_judgments(document, [kind for *_, kind in turns])))


def _reply(
    generator: np.random.Generator, language: str, topic: str, good: str, turns: list[tuple[str, str, str]]
) -> tuple[str, str]:
    chance = generator.random()
    if chance < 0.5:
        return good, "good"
    if chance < 0.65:
        return next(text for role, text, _ in reversed(turns) if role == "system"), "bad"
    if chance < 0.85:
        return str(generator.choice(NONSENSE[language])), "bad"
    other = next(name for name in TALK[language] if name != topic)
    return TALK[language][other][int(generator.integers(4))][1], "odd"


def _judgments(document: Document, kinds: list[str]) -> list[Judgment]:
    return [
        Judgment(document.id, segment.id, f"a{who}", "breakdown", "1.0", {"breakdown": label})
        for segment, kind in zip(document.segments, kinds, strict=True)
        if segment.role == "system"
        for who, label in enumerate(VOTES[kind])
    ]


def data(language: str, count: int = 15, seed: int = 0) -> tuple[list[Document], LabelVotes]:
    """Some dialogues and the votes on their turns."""
    return training_data(entry(number, language, seed) for number in range(count))


def votes_of(judgments: list[Judgment]) -> LabelVotes:
    """Judgments as votes."""
    question = load_scheme("breakdown").question("breakdown")
    assert question is not None
    votes = collect_votes(judgments, question)
    assert isinstance(votes, LabelVotes)
    return votes


def mixed(count: int = 6) -> list[Document]:
    """Dialogues in English and Japanese by turns."""
    languages = cycle(("en", "ja"))
    found = (entry(number, next(languages)).document for number in range(count))
    return [document for document in found if document is not None]
