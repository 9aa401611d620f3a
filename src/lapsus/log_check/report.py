"""What all results of `lapsus check` have in common: who judged what, and reports for a terminal and as a page."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

from lapsus.formats import EntryStream
from lapsus.log_check.report_words import word
from lapsus.model import Segment
from lapsus.reports.html_page import page, plain


@dataclass(kw_only=True)
class Check(ABC):
    """The result of `lapsus check`. It prints itself, and a notebook shows it as a page."""

    by: str = ""
    """Who judged."""
    reading: EntryStream | None = None
    """Where the documents came from."""
    unjudged: int = 0
    """Units that whoever judged could not judge, or was stopped before."""

    @abstractmethod
    def lines(self, language: str) -> Iterator[str]:
        """The report for a terminal, line by line."""

    @abstractmethod
    def to_html(self, language: str = "en") -> str:
        """The report as one self-contained page."""

    @abstractmethod
    def as_data(self, language: str = "en") -> dict[str, Any]:
        """What `lapsus check --json` prints."""

    def to_text(self, language: str = "en") -> str:
        """The report for a terminal."""
        return "\n".join(self.lines(language)) + "\n"

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self.to_html())}" style="width: 100%; height: 40rem; border: 0"></iframe>'


def check_page(check: Check, template: str, language: str, **values: Any) -> str:
    """A result as a page, with the words of its language and whatever else the template asks for."""
    return page(
        "lapsus.log_check",
        template,
        language,
        check=check,
        word=lambda name, **values: word(name, language, **values),
        **values,
    )


def one_line(text: str, most: int = 240) -> str:
    """A text of strangers on one line."""
    return " ".join(plain(text, most).split())


def spoken(segment: Segment, language: str) -> str:
    """A turn on one line, after who speaks."""
    colon = "：" if language == "ja" else ": "
    return f"{word(segment.role, language)}{colon}{one_line(segment.text)}"
