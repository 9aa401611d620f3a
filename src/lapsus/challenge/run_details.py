"""A run turn by turn beside people's votes."""

from collections.abc import Iterator, Sequence
from typing import Final, Literal, TypeAlias, get_args

import msgspec

from lapsus.challenge.run_scores import Answers
from lapsus.challenge.testset import NO_SYSTEM, Track
from lapsus.measures.scores.breakdown_labels import LABELS, strict_labels, vote_shares
from lapsus.store.challenge_records import Counts, GoldDocument

Wanted: TypeAlias = Literal["all", "errors", "missed", "alarms"]
"""Which turns are looked for: all that are scored; wrong ones; breakdowns not found; sound turns called broken."""
WANTED: Final = get_args(Wanted)


class Judged(msgspec.Struct, frozen=True):
    """A scored turn."""

    votes: Counts
    gold: str
    said: str
    shares: tuple[float, float, float]
    wanted: bool
    """Whether it is one of those looked for."""

    @property
    def is_wrong(self) -> bool:
        """Whether the run's label is not the one that people's votes make."""
        return self.gold != self.said


class TurnSeen(msgspec.Struct, frozen=True):
    """A turn of a dialogue."""

    id: str
    role: str
    text: str
    judged: Judged | None = None


class DialogueSeen(msgspec.Struct, frozen=True):
    """A dialogue with the run's answers in it."""

    id: str
    language: str
    system: str
    turns: list[TurnSeen]
    scored: int
    wrong: int
    wanted: int


Confusion: TypeAlias = list[list[int]]
"""How often which gold label (rows O, T, X) was called what (columns)."""


def confusion(track: Track, answers: Answers, threshold: float) -> Confusion:
    """Gold labels against the run's."""
    table = [[0] * len(LABELS) for _ in LABELS]
    for gold, said in zip(_gold_labels(track, threshold), answers.labels, strict=True):
        table[LABELS.index(gold)][LABELS.index(said)] += 1
    return table


def dialogues(
    track: Track, answers: Answers, threshold: float, wanted: Wanted = "all", system: str | None = None
) -> list[DialogueSeen]:
    """The dialogues in which there are turns of those looked for."""
    rows = iter(zip(_gold_labels(track, threshold), answers.labels, answers.shares, strict=True))
    # Every dialogue takes its rows, shown or not, for they stand in one line.
    seen = [_dialogue(gold, rows, wanted) for gold in track.documents]
    return [one for one in seen if one.wanted and system in (None, one.system)]


def _dialogue(
    gold: GoldDocument, rows: Iterator[tuple[str, str, tuple[float, float, float]]], wanted: Wanted
) -> DialogueSeen:
    turns = []
    for segment in gold.document.segments:
        judged = None
        if segment.role == "system" and segment.id in gold.votes:
            label, said, shares = next(rows)
            judged = Judged(gold.votes[segment.id], label, said, shares, _is_wanted(label, said, wanted))
        turns.append(TurnSeen(segment.id, segment.role, segment.text, judged))
    found = [turn.judged for turn in turns if turn.judged is not None]
    return DialogueSeen(
        id=gold.document.id,
        language=gold.language,
        system=gold.document.system or NO_SYSTEM,
        turns=turns,
        scored=len(found),
        wrong=sum(judged.is_wrong for judged in found),
        wanted=sum(judged.wanted for judged in found),
    )


def _is_wanted(gold: str, said: str, wanted: Wanted) -> bool:
    return {
        "all": True,
        "errors": gold != said,
        "missed": gold == "X" and said != "X",
        "alarms": gold == "O" and said != "O",
    }[wanted]


def _gold_labels(track: Track, threshold: float) -> Sequence[str]:
    return [LABELS[code] for code in strict_labels(vote_shares(track.counts), threshold).tolist()]
