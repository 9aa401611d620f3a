"""What came before a turn, by who said it."""

from __future__ import annotations

from lapsus.model import Segment, Unit


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
