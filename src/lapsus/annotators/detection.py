"""Detection: data judged by a program, for Python and for `lapsus detect`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lapsus.annotators.base import Annotator
from lapsus.annotators.breakdown import SCHEME
from lapsus.annotators.bulk import Bulk, Engine, Here, KeptChunks
from lapsus.annotators.entries import without_dialogues
from lapsus.annotators.judges import Judges, usual_profile
from lapsus.errors import InputError, UsageError
from lapsus.formats import FORMATS, Conversion, EntryStream, Format, format_for_output, read
from lapsus.formats.convert import carried
from lapsus.formats.sink import check_place, put_in_place
from lapsus.model import Document, Entry, Judgment, Span
from lapsus.model.notes import without_notes
from lapsus.model.targets import voted_segments
from lapsus.model.votes import LabelVotes
from lapsus.schemes import AnyScheme

RUN = "dbdc-run"
"""The challenge's own format of runs: files in it hold what the challenge asks for and no more."""


@dataclass
class Detection:
    """Data as a program judges it: iterate over it for entries with judgments. Counts are complete at the end."""

    reading: EntryStream
    judges: Judges
    keep: bool = False
    """Whether judgments that the data holds stand beside the program's."""
    turns: str | None = None
    """`judged`: only turns that somebody judged, where the data says which; `all`: every turn.

    By default a run for the challenge has the judged ones, since its program pairs answers with those.
    """
    units: int = 0
    whole: bool = False
    """Whether whole documents are judged, not turns."""
    left_out: int = 0
    """Answers about turns that nobody judged."""
    answers: dict[str, Counter[str]] = field(default_factory=dict)
    """For each question how often each answer was given; of several labels and of marks, each label."""
    engine: Engine = field(default_factory=Here)
    """Where it is judged."""

    def __iter__(self) -> Iterator[Entry]:
        return self.entries()

    def entries(self, kept: KeptChunks | None = None) -> Iterator[Entry]:
        """The same, with finished chunks kept; those of another go are not judged again."""
        return self._judged(self.turns == "judged", kept)

    def _judged(self, judged_only: bool, kept: KeptChunks | None = None) -> Iterator[Entry]:
        self.units, self.whole, self.left_out, self.answers = 0, False, 0, {}
        others: dict[str, tuple[Judgment, ...]] = {}
        voted: dict[str, frozenset[str | None] | None] = {}

        def noted() -> Iterator[Entry]:
            for entry in self.reading:
                if entry.document is not None:
                    others[entry.id] = entry.judgments if self.keep else ()
                    voted[entry.id] = voted_segments(entry, self.judges.scheme) if judged_only else None
                    yield entry

        for entry in self.judges.entries(noted(), Bulk(self.engine, kept)):
            answered = self._chosen(entry, voted.pop(entry.id))
            self._count(answered)
            yield _beside(others.pop(entry.id), answered)
        if not self.units:
            raise nothing_to_judge(self.reading)

    def write(
        self, path: Path | str, *, overwrite: bool = False, progress: Callable[[], None] = lambda: None
    ) -> Conversion:
        """Write the judged documents to a file: RUN.jsonl, or RUN.zip and folders in the challenge's format.

        Until it is there, what is judged already is kept beside it: another go does not judge that again.
        """
        target = Path(path)
        format = run_format(target, self.judges.scheme, keep=self.keep)
        check_place(target, overwrite=overwrite, source=self.reading.source.path)
        done, kept = Conversion(format), KeptChunks.beside(target)
        with put_in_place(target, overwrite=overwrite) as draft:
            entries = self._judged(judged_only(self.turns, format), kept)
            if format.name == RUN:
                entries = map(_without_notes, entries)
            format.write(carried(_watched(entries, progress), done), draft)
        kept.remove()
        return done

    def _chosen(self, entry: Entry, voted: frozenset[str | None] | None) -> Entry:
        """The entry without answers about turns that nobody judged."""
        if voted is None:
            return entry
        kept = tuple(judgment for judgment in entry.judgments if judgment.segment in voted)
        self.left_out += len(entry.judgments) - len(kept)
        return Entry(entry.id, entry.document, kept)

    def _count(self, entry: Entry) -> None:
        self.units += len(entry.judgments)
        for judgment in entry.judgments:
            self.whole = judgment.segment is None
            for question, answer in judgment.answers.items():
                counts = self.answers.setdefault(question, Counter())
                if isinstance(answer, tuple):
                    counts.update(one.label if isinstance(one, Span) else one for one in answer)
                else:
                    counts[str(answer)] += 1


def detect(
    data: Any,
    *,
    model: Annotator | Path | str | None = None,
    scheme: AnyScheme | None = None,
    profile: str | None = None,
    only: str | None = None,
    language: str | None = None,
    keep: bool = False,
    turns: str | None = None,
    own: tuple[list[Document], LabelVotes] | None = None,
    engine: Engine | None = None,
    tell: Callable[[Annotator], None] = lambda annotator: None,
    announce: Callable[[EntryStream], None] = lambda reading: None,
) -> Detection:
    """Data judged by a program: a path, entries in memory or a long table.

    `model` is an annotator, a model's file, a shipped model or a method that needs no fitting; else the model that is
    shipped for the documents' language. With `keep` the judgments that the data holds stand beside. `turns` is
    `judged` or `all` (see `Detection`). `own` are judged dialogues, as `training_data` gives them, that the model is
    adapted to. `engine` is where it is judged, here by default. Nothing is judged before the result is iterated over or
    written.
    """
    reading = read(data, only=only, language=language)
    announce(reading)
    usual = usual_profile(reading.format.name)
    judges = Judges(model, scheme=scheme, profile=profile, usual=usual, own=own, tell=tell)
    return Detection(reading, judges, keep, turns, engine=engine or Here())


def judged_only(turns: str | None, format: Format) -> bool:
    """Whether turns without votes are passed over: the challenge's program pairs answers with judged turns."""
    if turns not in (None, "judged", "all"):
        raise UsageError(f"no turns are called {turns!r}", hint="known: judged, all")
    return turns == "judged" or (turns is None and format.name == RUN)


def run_format(target: Path, scheme: str = SCHEME, *, keep: bool = False) -> Format:
    """The challenge's format for zips and folders; any other by its ending."""
    if target.suffix.lower() not in ("", ".zip"):
        return format_for_output(target)
    if scheme != SCHEME:
        raise UsageError(
            f"a run for the challenge holds judgments under {SCHEME!r}, not under {scheme!r}",
            where=str(target),
            hint="name a RUN.jsonl",
        )
    if keep:
        raise UsageError("a run for the challenge holds one detector", hint="with --keep name a RUN.jsonl")
    return FORMATS.get(RUN)()


def nothing_to_judge(reading: EntryStream) -> InputError:
    """What to say where there is no unit: to say nothing would look as if all were well."""
    where = reading.source.shown
    if not reading.documents:
        error = without_dialogues()
        return InputError(error.what, where=where, hint=error.hint)
    hint = "turns of the system have a role such as 'assistant' or 'bot'; 'system' is read as a prompt"
    return InputError("no dialogue in it has a turn of the system to judge", where=where, hint=hint)


def _watched(entries: Iterable[Entry], progress: Callable[[], None]) -> Iterator[Entry]:
    for entry in entries:
        progress()
        if entry.judgments:
            yield entry


def _without_notes(entry: Entry) -> Entry:
    return Entry(entry.id, entry.document, tuple(map(without_notes, entry.judgments)))


def _beside(others: tuple[Judgment, ...], entry: Entry) -> Entry:
    """What others said together with what a program says; its own answers of before give way."""
    by = {(judgment.annotator, judgment.scheme) for judgment in entry.judgments}
    theirs = tuple(judgment for judgment in others if (judgment.annotator, judgment.scheme) not in by)
    return Entry(entry.id, entry.document, (*theirs, *entry.judgments))
