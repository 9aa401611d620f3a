"""What the Japanese reader learns from beside the votes: replies in talk, and turns that only its teachers judge."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from japanese_data import Judged
from pool import CONFIG, TRAIN, Reply, Talk, cut, part_of, reply_at, talks

from lapsus.annotators.encoder.reader import Passage, TurnWords


class Mixture:
    """Draws replies of talk, from the dialogues that are not kept back for measuring."""

    def __init__(self, found: Sequence[Talk]) -> None:
        self.talks = [talk for talk in found if len(talk.turns) > 1]
        self.said = [turn.text for talk in self.talks for turn in talk.turns if turn.text]

    def reply(self, rng: random.Random) -> Reply:
        """One that was given, or as often a wrong one."""
        while True:
            talk = rng.choice(self.talks)
            place = rng.randrange(0 if rng.random() < CONFIG["openings"]["ja"] else 1, len(talk.turns))
            wrong = CONFIG["wrong"]["ja"] if rng.random() < 0.5 else None
            reply = reply_at(talk, place, self.said, rng, wrong)
            if reply.passage.target:
                return reply._replace(passage=cut(reply.passage))

    def unjudged(self, judged: Judged, rng: random.Random) -> Iterator[Passage]:
        """The challenge's talk with other turns in it; replies in talk; talk with the challenge's turns in it."""
        counts: dict[str, Any] = CONFIG["unjudged"]
        turns = [passage.target for passage in judged.passages]
        for _ in range(counts["swapped"]):
            other = rng.choice(turns if rng.random() < CONFIG["swapped_in"] else self.said)
            yield Passage(rng.choice(judged.passages).context, other)
        for _ in range(counts["talk"]):
            yield self.reply(rng).passage
        for _ in range(counts["mixed"]):
            talk = rng.choice(self.talks)
            place = rng.randrange(1, len(talk.turns))
            by = talk.turns[place].by_system
            before = tuple(TurnWords(turn.by_system == by, turn.text) for turn in talk.turns[:place])
            yield cut(Passage(before, rng.choice(turns)))


def read_mixture() -> Mixture:
    """All Japanese corpora."""
    found = (talk for corpus in CONFIG["japanese"] for talk in talks(corpus))
    return Mixture([talk for talk in found if part_of(talk.corpus, talk.id) == TRAIN])
