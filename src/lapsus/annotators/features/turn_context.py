"""A turn and what came before it, looked at closely."""

from __future__ import annotations

from dataclasses import dataclass

from lapsus.annotators.features.cues import Cues, SurfaceCues, cues_of, look
from lapsus.model import Segment, Unit


@dataclass(frozen=True)
class TurnContext:
    """A turn and what came before it, looked at closely."""

    turn: SurfaceCues
    own: tuple[SurfaceCues, ...]
    """What the system said before, the latest first."""
    others: tuple[SurfaceCues, ...]
    """What the user said before, the latest first."""
    cues: Cues

    @classmethod
    def of(cls, unit: Unit) -> TurnContext:
        """The turn that a unit is about, with the turns before it."""
        return cls(
            look(target(unit).text, unit.language),
            tuple(look(text, unit.language) for text in said_before(unit, "system")),
            tuple(look(text, unit.language) for text in said_before(unit, "user")),
            cues_of(unit.language),
        )

    @property
    def user(self) -> SurfaceCues | None:
        """The user's utterance before the turn, if there is one."""
        return self.others[0] if self.others else None


def alikeness(first: SurfaceCues, second: SurfaceCues) -> float:
    """The share of words that two utterances have in common, from 0 to 1."""
    one, other = set(first.words), set(second.words)
    return len(one & other) / len(one | other) if one and other else float(first.plain == second.plain)


def said_before(unit: Unit, role: str) -> list[str]:
    """What that side said before the target, the latest first."""
    return [turn.text for turn in reversed(unit.context) if turn.role == role]


def last_said(unit: Unit, role: str) -> str:
    """What that side said last before the target; nothing where it has not spoken."""
    return next((turn.text for turn in reversed(unit.context) if turn.role == role), "")


def target(unit: Unit) -> Segment:
    """The turn to judge. Breakdown is judged by the turn, so there always is one."""
    if unit.target is None:
        raise ValueError("a whole document is no turn")
    return unit.target
