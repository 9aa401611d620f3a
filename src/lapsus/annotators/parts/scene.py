"""A turn and what came before it, looked at closely."""

from __future__ import annotations

from dataclasses import dataclass

from lapsus.annotators.parts.context import said_before, target
from lapsus.annotators.parts.cues import Cues, Look, cues_of, look
from lapsus.model import Unit


@dataclass(frozen=True)
class Scene:
    """A turn and what came before it, looked at closely."""

    turn: Look
    own: tuple[Look, ...]
    """What the system said before, the latest first."""
    others: tuple[Look, ...]
    """What the user said before, the latest first."""
    cues: Cues

    @classmethod
    def of(cls, unit: Unit) -> Scene:
        """The scene of a unit."""
        return cls(
            look(target(unit).text, unit.language),
            tuple(look(text, unit.language) for text in said_before(unit, "system")),
            tuple(look(text, unit.language) for text in said_before(unit, "user")),
            cues_of(unit.language),
        )

    @property
    def user(self) -> Look | None:
        """The user's utterance before the turn, if there is one."""
        return self.others[0] if self.others else None


def alikeness(first: Look, second: Look) -> float:
    """The share of words that two utterances have in common, from 0 to 1."""
    one, other = set(first.words), set(second.words)
    return len(one & other) / len(one | other) if one and other else float(first.plain == second.plain)
