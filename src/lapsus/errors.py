"""Errors that are shown to users: what was wrong, where, and what to do about it."""

from __future__ import annotations

import errno
import re
from typing import Any, Self

from lapsus.notices import Notice, catalogue, localized, notice

_KEYWORDS = {
    "drop-broken": "drop_broken=True",
    "keep": "keep=True",
    "lang": "language=",
    "lossy": "lossy=True",
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
    """Something a user can mend. `what` and `hint` are ids of notices with `fields`, or texts; `where` is a place.

    A hint is written for the command line; in Python, where errors are shown as text, it names functions instead.
    """

    exit_code = 1

    def __init__(
        self, what: str, /, *, where: str | None = None, hint: str | None = None, **fields: Any
    ) -> None:
        self.what = notice(what, fields)
        self.where = where
        self.hint = None if hint is None else notice(hint, fields)
        super().__init__(self.what)

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        return f"{text} ({in_python(self.hint)})" if self.hint else str(text)

    def in_language(self, language: str) -> LapsusError:
        """The same error in a reader's language: what, where and what to do."""
        what, where, hint = (
            None if text is None else localized(text, language) for text in (self.what, self.where, self.hint)
        )
        return LapsusError(what or "", where=where, hint=hint)

    def at(self, where: str) -> Self:
        """Add a place around the one already named: the file around the turn."""
        self.where = Notice("two-places", outer=where, inner=self.where) if self.where else where
        return self


def in_python(hint: str) -> str:
    """A hint with keywords in place of options, and functions in place of commands."""
    hint = _COMMAND.sub(r"`lapsus.\1(…)`", hint)
    return _OPTION.sub(lambda match: f"`{_KEYWORDS[match[1]]}`", hint)


def reason_of(error: OSError) -> str:
    """Why the operating system refused: our words where we have them, else its own."""
    id = f"errno-{errno.errorcode.get(error.errno or 0, 'none')}"
    return Notice(id) if id in catalogue("en") else error.strerror or str(error)


class InputError(LapsusError):
    """Data that cannot be read or does not hold together."""


class InvalidError(LapsusError, ValueError):
    """A value that the model does not allow."""


class LossError(LapsusError):
    """A format cannot carry what would be written to it."""


class UsageError(LapsusError):
    """The program was asked for something that it does not have."""

    exit_code = 2
