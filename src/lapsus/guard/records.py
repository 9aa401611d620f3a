"""What the guard is asked and what it answers, as records: the same in Python, over HTTP and in its description."""

from typing import Annotated, Any, Final, TypeAlias

import msgspec

MOST_MESSAGES: Final = 1_000
MOST_CANDIDATES: Final = 16
MOST_RISK: Final = 0.6
"""The risk above which a reply is flagged, unless told otherwise."""

Message: TypeAlias = dict[str, Any]
Messages: TypeAlias = Annotated[list[Message], msgspec.Meta(min_length=1, max_length=MOST_MESSAGES)]
Candidates: TypeAlias = Annotated[list[str | Message], msgspec.Meta(min_length=1, max_length=MOST_CANDIDATES)]


class CheckRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A talk so far, and replies that could be sent next. Without candidates its last message is judged."""

    messages: Messages
    candidates: Candidates | None = None


class Sign(msgspec.Struct, frozen=True):
    """Something that can be checked and speaks for a fault."""

    kind: str
    sign: str
    types: tuple[str, ...]
    says: str
    quote: str
    weight: float


class LikelyType(msgspec.Struct, frozen=True):
    """An error type, and the share of people who would name it."""

    type: str
    share: float


class Suggestion(msgspec.Struct, frozen=True):
    """A way to recover, or to do better at once."""

    id: str
    title: str
    says: str


class Candidate(msgspec.Struct, frozen=True):
    """What is said of one reply."""

    risk: float | None
    """How likely it breaks the talk down, from 0 to 1; null where there is nothing to judge, as in a call of a tool."""
    distribution: dict[str, float]
    """The shares of people who would say not a breakdown (O), possibly (T), a breakdown (X)."""
    flagged: bool
    """Whether the risk is above the limit."""
    evidence: tuple[Sign, ...]
    types: tuple[LikelyType, ...]
    """Of flagged replies, the likeliest first."""
    suggestions: tuple[Suggestion, ...]
    """Of flagged replies."""


class Verdict(Candidate, frozen=True):
    """What is said of all candidates; the fields of a candidate are those of the best one."""

    candidates: tuple[Candidate, ...]
    """In the order in which they were given."""
    best: int
    """The place of the one to send, counted from 0."""


class Refusal(msgspec.Struct, frozen=True):
    """Why a request was not answered, in words."""

    error: str
    hint: str | None = None


NOT_JUDGED: Final = Candidate(None, {}, False, (), (), ())


def verdict(candidates: tuple[Candidate, ...]) -> Verdict:
    """All candidates together. What cannot be judged is chosen only where nothing can be."""
    place = min(range(len(candidates)), key=lambda one: rank_of(candidates[one]))
    return Verdict(**msgspec.structs.asdict(candidates[place]), candidates=candidates, best=place)


def rank_of(candidate: Candidate) -> tuple[bool, float]:
    """What puts candidates in order, the best first: not flagged, then by the mean of risk and the reader's word.

    The risk alone is made for lists of the worst: a sign may lift it far above what the reader says of a plain reply.
    """
    if candidate.risk is None:
        return True, 2.0
    said = candidate.distribution
    return candidate.flagged, (candidate.risk + said.get("X", 0.0) + said.get("T", 0.0) / 2) / 2
