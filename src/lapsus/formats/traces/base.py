"""What the readers of traces share: records in, calls gathered by conversation, dialogues out."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import Any, ClassVar

from lapsus.errors import InputError
from lapsus.formats.base import Format, ReadOptions
from lapsus.formats.records import SUFFIXES, Record, first_record, records
from lapsus.formats.source import Source
from lapsus.formats.traces.calls import Call, CallStore
from lapsus.formats.traces.dialogues import dialogue_of
from lapsus.model import Document, Entry
from lapsus.notices import Notice


class TraceFormat(Format):
    """A tool's export of calls. Only reading: judgments go back as feedback."""

    writes = False
    expected: ClassVar[str]
    """What a record holds, for the message about one that holds something else."""

    def recognises(self, source: Source) -> bool:
        """By the keys of the first record."""
        record = first_record(source)
        return record is not None and self.knows(record.value)

    @abstractmethod
    def knows(self, record: dict[str, Any]) -> bool:
        """Whether the keys of a record are this tool's."""

    @abstractmethod
    def calls(self, record: Record, dropped: Counter[str]) -> Iterator[Call]:
        """The calls that a record holds. What is left out is counted in `dropped`."""

    def prepare(self, source: Source) -> None:
        """Look through the source beforehand, where one record explains another."""

    def read(self, source: Source, options: ReadOptions) -> Iterator[Entry]:
        """A dialogue for each conversation, in the order in which they begin."""
        self.prepare(source)
        with closing(CallStore()) as store:
            for member in source.members(*SUFFIXES):
                for record in records(member):
                    source.place = record.where
                    for call in self._calls(record, options.dropped):
                        store.add(call)
            for conversation, calls in store.conversations():
                segments, metadata = dialogue_of(calls, options)
                if not segments:
                    options.dropped[Notice("conversations-without-word")] += 1
                    continue
                language = metadata.pop("language", None) or options.language_of(segments)
                yield Entry(conversation, Document(conversation, tuple(segments), language, metadata))

    def _calls(self, record: Record, dropped: Counter[str]) -> Iterator[Call]:
        try:
            yield from self.calls(record, dropped)
        except (KeyError, TypeError, AttributeError, ValueError, IndexError, OverflowError) as error:
            hint = Notice("record", name=self.name, expected=self.expected)
            raise InputError("not-shape-expected", where=record.where, hint=hint) from error


def known(**values: Any) -> dict[str, Any]:
    """The values that say something: no None, and nothing empty."""
    return {key: value for key, value in values.items() if value not in (None, "", [], {})}


def first(record: dict[str, Any], *keys: str) -> Any:
    """The first of several spellings that a record has a value for."""
    return next((record[key] for key in keys if record.get(key) not in (None, "")), None)
