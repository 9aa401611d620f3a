"""Losses that several formats have in common."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from lapsus.formats.base import Loss
from lapsus.model import Judgment
from lapsus.notices import Notice


def foreign_judgment(judgment: Judgment, scheme: str, questions: Collection[str]) -> Iterator[Loss]:
    """What a format for one scheme loses of a judgment under another, or of answers it has no place for."""
    if judgment.scheme != scheme:
        yield Loss(Notice("judgments-under-scheme", scheme=judgment.scheme), severe=True)
        return
    for question in judgment.answers:
        if question not in questions:
            yield Loss(Notice("answers-to", question=question), severe=True)


def circumstances(judgment: Judgment, *carried: str) -> Iterator[Loss]:
    """Circumstances of a judgment that a format does not carry."""
    held = {
        "revision numbers": judgment.revision != 1,
        "times of judgments": judgment.at is not None,
        "durations of judgments": judgment.seconds is not None,
        "distributions": bool(judgment.distributions),
        "metadata of judgments": bool(judgment.metadata),
    }
    for what, is_there in held.items():
        if is_there and what not in carried:
            yield Loss(what)
