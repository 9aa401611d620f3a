"""What a system is given, and what it has to do."""

from collections.abc import Mapping
from typing import Protocol

import msgspec

from lapsus.errors import LapsusError
from lapsus.notices import Notice
from lapsus.store.talk_records import Reply


class NoReplyError(LapsusError):
    """A system that was asked and said nothing that can be used. The turn before it is kept; it is asked again."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(Notice("system-no-reply", name=name, why=why))


class TalkSoFar(msgspec.Struct, frozen=True):
    """All that a system is told: what was said, in which language, and a name of the talk's own."""

    id: str
    language: str
    messages: tuple[Mapping[str, str], ...]
    """`role` (user, assistant) and `content`, in order; empty where the system opens."""


class Replier(Protocol):
    """A system that people talk to. It may be asked by many threads at a time."""

    def reply(self, talk: TalkSoFar) -> Reply:
        """What it says next; raises `NoReplyError` where it says nothing."""
