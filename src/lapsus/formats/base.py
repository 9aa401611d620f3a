"""The base of all formats: read entries from a source, write entries to a place, report what is lost."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, NamedTuple

from lapsus.errors import UsageError
from lapsus.formats.field_map import FieldMap
from lapsus.formats.source import Source
from lapsus.language import language_of_turns
from lapsus.model import Entry, Judgment, Scheme, Segment
from lapsus.notices import Notice


class Loss(NamedTuple):
    """Something an entry holds that a format cannot carry."""

    what: str
    """In the plural and without the document's name, so that losses of many entries add up: "times of judgments"."""
    severe: bool = False
    """Whether a document, a judgment or an answer would be lost, not only a circumstance of it."""


@dataclass
class ReadOptions:
    """What a user may tell a reader, and what it had to find out by itself."""

    language: str | None = None
    """The language of the documents, where the format does not say; otherwise it is told by script."""
    told_by_script: Counter[str] = field(default_factory=Counter)
    """How many documents got which language by their script, to be announced."""
    dropped: Counter[str] = field(default_factory=Counter)
    """What a reader left out, in the plural ("calls of tools"), and how often, to be announced."""

    map: FieldMap | None = None
    """Which field of the records holds what, where the user said so."""
    taken: Counter[str] = field(default_factory=Counter)
    """What records were taken for, and how often, to be announced."""
    mended: Counter[str] = field(default_factory=Counter)
    """What was put right while reading, and how often, to be announced."""

    def language_of(self, segments: Iterable[Segment]) -> str | None:
        """The language to give a document whose format does not name one."""
        if self.language:
            return self.language
        known = list(segments)
        # A prompt may be in another language than the talk.
        said = [segment.text for segment in known if segment.role in ("user", "system")]
        language = language_of_turns(said or [segment.text for segment in known])
        if language:
            self.told_by_script[language] += 1
        return language


class Format(ABC):
    """One way to keep documents and judgments in files."""

    name: ClassVar[str]
    title: ClassVar[str]
    """One line for listings."""
    suffix: ClassVar[str | None] = None
    """The file ending that stands for this format as output (the longest fitting one wins).

    None where the output is a folder or zip, whose name says nothing.
    """
    reads: ClassVar[bool] = True
    writes: ClassVar[bool] = True

    def recognises(self, source: Source) -> bool:
        """Whether the source is surely of this format. Looks at names and at the first file only."""
        return False

    def suits(self, scheme: Scheme) -> bool:
        """Whether it has a place for what a guideline asks."""
        return True

    @abstractmethod
    def read(self, source: Source, options: ReadOptions) -> Iterator[Entry]:
        """The entries of a source, one at a time."""

    def losses(self, entry: Entry) -> Iterator[Loss]:
        """What writing this entry would lose. Where there is none, reading back gives the same entry."""
        return iter(())

    def write(self, entries: Iterable[Entry], path: Path) -> None:
        """Write to a path that does not exist yet; the caller moves it into place when all went well."""
        raise UsageError("format-can-read-but", name=self.name)


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
