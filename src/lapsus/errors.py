"""Errors that are shown to users: what was wrong, where, and what to do about it."""

from __future__ import annotations

import re

_KEYWORDS = {
    "drop-broken": "drop_broken=True",
    "keep": "keep=True",
    "lang": "language=",
    "lossy": "lossy=True",
    "map": "map=",
    "measure": "measures=",
    "only": "only=",
    "overwrite": "overwrite=True",
    "profile": "profile=",
    "question": "questions=",
    "scheme": "scheme=",
    "threshold": "threshold=",
    "with": "model=",
}
"""Options of commands, and what the functions of the same names take instead."""
_OPTION = re.compile(rf"--({'|'.join(_KEYWORDS)})(?![a-z-])( MODEL)?")
_COMMAND = re.compile(r"`lapsus (train|detect|check|score|agree|gold|compare)\b[^`]*`")


class LapsusError(Exception):
    """Something a user can mend. `where` names the place, `hint` says what to do.

    A hint is written for the command line; to Python, where errors are shown as text, it speaks of functions.
    """

    exit_code = 1

    def __init__(self, what: str, *, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        return f"{text} ({in_python(self.hint)})" if self.hint else text

    def said_in(self, language: str) -> str | None:
        """What was wrong in another language, where the error has the words itself; None: they are in the catalogue."""
        return None

    def at(self, where: str) -> LapsusError:
        """Add a place around the one already named: the file around the turn."""
        self.where = f"{where}, {self.where}" if self.where else where
        return self


def in_python(hint: str) -> str:
    """A hint with keywords in place of options, and functions in place of commands."""
    hint = _COMMAND.sub(r"`lapsus.\1(…)`", hint)
    return _OPTION.sub(lambda match: f"`{_KEYWORDS[match[1]]}`", hint)


class InputError(LapsusError):
    """Data that cannot be read or does not hold together."""


class InvalidError(LapsusError, ValueError):
    """A value that the model does not allow."""


class LossError(LapsusError):
    """A format cannot carry what would be written to it."""


class UsageError(LapsusError):
    """The program was asked for something that it does not have."""

    exit_code = 2
