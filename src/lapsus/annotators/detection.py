"""Detection: data judged by a program, or by several as a jury, for Python and for `lapsus detect`."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, Unpack

from lapsus.annotators.base import Annotator
from lapsus.annotators.breakdown import SCHEME
from lapsus.annotators.bulk import Engine, Here, Journal, Kept, KeptChunks, Run
from lapsus.annotators.cases import cases_of
from lapsus.annotators.judges import Judges, jury_of, usual_profile
from lapsus.annotators.library import refuse_asking, refuse_unknown
from lapsus.annotators.training import without_dialogues
from lapsus.errors import InputError, LapsusError, UsageError
from lapsus.formats import FORMATS, Conversion, EntryStream, Format, format_for_output, read
from lapsus.formats.convert import carried
from lapsus.formats.sink import check_place, put_in_place
from lapsus.model import Entry, Judgment, Scheme, Span, Unit, UnitKey
from lapsus.model.judgment import without_notes
from lapsus.model.unit import target_votes, voted_segments
from lapsus.notices import Notice
from lapsus.schemes import AnyScheme, load_scheme

if TYPE_CHECKING:
    from lapsus.annotators.language_model import LanguageModel
    from lapsus.annotators.language_model.asking import Asking
    from lapsus.annotators.language_model.batch import BatchRun
    from lapsus.annotators.language_model.prices import Expected

RUN = "dbdc-run"
"""The challenge's own format of runs: files in it hold what the challenge asks for and no more."""
AnyModel: TypeAlias = Annotator | Path | str
Counts: TypeAlias = dict[str, Counter[str]]
"""For each question how often each answer was given; of several labels and of marks, each label."""


class UnfinishedError(LapsusError):
    """Not all was judged, so that nothing was written; what was said is kept for another go."""


class Waiting(NamedTuple):
    """A language model that is to be asked."""

    model: LanguageModel
    units: int
    """Units that it is to be asked about."""
    known: int
    """Units of which its answers are kept from before."""
    kept: Journal | None
    without_votes: int = 0
    """Documents without the votes that would choose what is judged, where its guideline has such a rule."""
    expected: Expected | None = None
    """About what it will take; None where that was not counted."""


@dataclass
class Detection:
    """Data as programs judge it: iterate over it for entries with judgments. Counts are complete at the end."""

    reading: EntryStream
    members: list[Judges]
    """Who judges. Several are a jury, whose judgment stands beside theirs."""
    keep: bool = False
    """Whether judgments that the data holds stand beside the programs'."""
    turns: str | None = None
    """`judged`: only turns that somebody judged, where the data says which; `all`: every turn.

    By default a run for the challenge has the judged ones, since its program pairs answers with those.
    """
    engine: Engine = field(default_factory=Here)
    """Where it is judged."""
    units: int = 0
    whole: bool = False
    """Whether whole documents are judged, not turns."""
    left_out: int = 0
    """Answers about turns that nobody judged."""
    wanted: int = 0
    """Units that language models or the jury are to judge; 0 before `take_stock`."""
    answers: Counts = field(default_factory=dict)
    """Of the judge, or of the jury."""
    by_member: dict[str, Counts] = field(default_factory=dict)
    """Of each member of a jury."""

    def __iter__(self) -> Iterator[Entry]:
        return self.entries()

    @property
    def names(self) -> list[str]:
        """The names of those who have judged so far, or will."""
        return [name for member in self.members for name in member.names]

    @property
    def asked(self) -> list[LanguageModel]:
        """The language models among those who judge."""
        return [model for member in self.members if (model := member.asked) is not None]

    @property
    def is_jury(self) -> bool:
        """Whether several judge."""
        return len(self.members) > 1

    @property
    def is_stopped(self) -> bool:
        """Whether a language model was told to stop, or had to."""
        return any(model.service.stop.is_set() for model in self.asked)

    def entries(
        self,
        kept: Sequence[Kept | None] = (),
        *,
        alone: bool = False,
        progress: Callable[[], None] = lambda: None,
    ) -> Iterator[Entry]:
        """The same, with answers kept, a place for each member; those of another go are not asked for again.

        `alone`: of a jury its own judgments only. `progress` as with `write`.
        """
        return self._judged(self.turns == "judged", kept, progress, alone=alone)

    def take_stock(
        self, kept: Sequence[Kept | None] = (), *, judged_only: bool | None = None
    ) -> list[Waiting]:
        """Read the data and count what the language models are still to be asked. Nothing is sent."""
        chosen_only = self.turns == "judged" if judged_only is None else judged_only
        return [self._waiting(model, journal, chosen_only) for model, journal in self._journals(kept)]

    def _waiting(self, model: LanguageModel, kept: Journal | None, chosen_only: bool) -> Waiting:
        """What a model is still to be asked. Answers that are kept for other texts do not count."""
        work, expected = model.work(), model.expects(())
        known: dict[UnitKey, Judgment] = {}
        self.wanted = units = without_votes = 0
        for entry in self.reading:
            if model.scheme.target is not None and entry.document is not None:
                without_votes += not target_votes(entry, model.scheme)
            for unit in self._units_in(entry, model, chosen_only):
                self.wanted += 1
                found = kept.find(work, [unit]) if kept is not None else None
                if found is None:
                    units += 1
                    expected += model.expected(unit, next(iter(known.values()), None))
                elif (judgment := found[0].judgment) is not None:
                    known[unit.key] = judgment
        if kept is not None:
            kept.judgments = known
        return Waiting(model, units, len(known), kept, without_votes, expected)

    def _journals(self, kept: Sequence[Kept | None]) -> list[tuple[LanguageModel, Journal | None]]:
        """The language models among those who judge, each with where its answers are kept."""
        places = kept or [None] * len(self.members)
        return [
            (model, place if isinstance(place, Journal) else None)
            for member, place in zip(self.members, places, strict=True)
            if (model := member.asked) is not None
        ]

    def _judged(
        self,
        judged_only: bool,
        kept: Sequence[Kept | None] = (),
        progress: Callable[[], None] = lambda: None,
        *,
        alone: bool = False,
    ) -> Iterator[Entry]:
        self.units, self.whole, self.left_out, self.answers, self.by_member = 0, False, 0, {}, {}
        others: dict[str, tuple[Judgment, ...]] = {}
        voted: dict[str, frozenset[str | None] | None] = {}

        def noted() -> Iterator[Entry]:
            for entry in self.reading:
                if entry.document is not None:
                    others[entry.id] = entry.judgments if self.keep else ()
                    voted[entry.id] = voted_segments(entry, self.members[0].scheme) if judged_only else None
                    yield entry

        def judged(member: Judges, place: int, entries: Iterator[Entry]) -> Iterator[Entry]:
            run = Run(self.engine, kept[place] if kept else None, progress=progress)
            return run.entries((one, item, voted[item.id]) for one, item in member.assigned(entries))

        sources = tee(noted(), len(self.members))
        streams = [judged(one, place, sources[place]) for place, one in enumerate(self.members)]
        for same in zip(*streams, strict=False):
            entry = self._chosen(same, voted.pop(same[0].id))
            if not self.asked:
                progress()
            yield self._together(entry, others.pop(entry.id), alone)
        if not self.units and not self.is_stopped and not any(model.refused for model in self.asked):
            raise nothing_to_judge(self.reading)

    def _chosen(self, same: Sequence[Entry], voted: frozenset[str | None] | None) -> Entry:
        """A document with what all members said, without answers about turns that nobody judged."""
        said = [judgment for entry in same for judgment in entry.judgments]
        kept = tuple(judgment for judgment in said if voted is None or judgment.segment in voted)
        self.left_out += len(said) - len(kept)
        return Entry(same[0].id, same[0].document, kept)

    def _together(self, entry: Entry, others: tuple[Judgment, ...], alone: bool) -> Entry:
        """What others said, what the programs say, and what they say as a jury; answers of before give way."""
        said = final = entry.judgments
        if self.is_jury:
            for judgment in said:
                _count(self.by_member.setdefault(judgment.annotator, {}), judgment)
            final = tuple(jury_of(said, self._scheme()))
            said = tuple(map(without_notes, final)) if alone else (*said, *final)
        self.units += len(final)
        for judgment in final:
            self.whole = judgment.segment is None
            _count(self.answers, judgment)
        by = {(judgment.annotator, judgment.scheme) for judgment in said}
        by |= {(model.name, model.scheme.id) for model in self.asked}
        theirs = tuple(one for one in others if (one.annotator, one.scheme) not in by)
        return Entry(entry.id, entry.document, (*theirs, *said))

    def _scheme(self) -> Scheme:
        return self.members[0].one.scheme if self.members[0].one else load_scheme(self.members[0].scheme)

    def kept_beside(self, target: Path) -> list[Kept]:
        """Where answers are kept until the output is there, for each member.

        Answers of a language model that were given under another setting are refused.
        """
        found: list[Kept] = []
        for number, member in enumerate(self.members, 1):
            place = number if self.is_jury else 0
            if (model := member.asked) is None:
                found.append(KeptChunks.beside(target, place))
                continue
            journal = Journal.beside(target, place)
            model.must_go_on(journal.judgments.values(), str(journal.path))
            found.append(journal)
        return found

    def _ready(self, target: Path, overwrite: bool) -> tuple[Format, list[Kept], bool]:
        """The format, what is kept, and whether what is there gives way; complains before anything is judged."""
        format = run_format(target, self.members[0].scheme, keep=self.keep)
        if (self.asked or self.is_jury) and format.name not in ("jsonl", RUN):
            raise UsageError(
                "does-not-hold-all", where=str(target), hint="name-file-ends-jsonl", name=format.name
            )
        kept = self.kept_beside(target)
        may_replace = overwrite or any(isinstance(one, Journal) and one.judgments for one in kept)
        check_place(target, overwrite=may_replace, sources=[self.reading.source.path])
        return format, kept, may_replace

    def write(
        self,
        path: Path | str,
        *,
        overwrite: bool = False,
        leave: Callable[[list[Waiting]], None] = lambda waiting: None,
        progress: Callable[[], None] = lambda: None,
    ) -> Conversion:
        """Write the judged documents to a file: RUN.jsonl, or RUN.zip and folders in the challenge's format.

        Until it is there, what is judged already is kept beside it: another go does not judge that again. `leave` hears
        what language models are to be asked, before the first is; an error that it raises ends it. `progress` hears of
        each unit that they were asked about; where there are none, of each document.
        """
        target = Path(path)
        format, kept, may_replace = self._ready(target, overwrite)
        done, chosen_only = Conversion(format), judged_only(self.turns, format)
        batches = self._batches(kept)
        for batch in batches:
            if batch.is_pending:
                batch.collect(self._units(batch.model, chosen_only))
        leave(self.take_stock(kept, judged_only=chosen_only))
        for batch in batches:
            batch.submit(self._units(batch.model, chosen_only))
        with put_in_place(target, overwrite=may_replace) as draft:
            entries = self._judged(chosen_only, kept, progress, alone=format.name == RUN)
            if format.name == RUN:
                entries = map(_without_notes, entries)
            format.write(carried((entry for entry in entries if entry.judgments), done), draft)
            if self.is_stopped or not self.units:
                raise UnfinishedError(Notice("not-all-judged"), hint=Notice("same-again-goes"))
        for member, place in zip(self.members, kept, strict=True):
            if (model := member.asked) is None or not model.refused:
                place.remove()
        return done

    def _batches(self, kept: Sequence[Kept | None]) -> list[BatchRun]:
        """The models that are asked in batches, which are handed in and come back to."""
        asked = [(model, place) for model, place in self._journals(kept) if model.batch and place is not None]
        if not asked:
            return []
        from lapsus.annotators.language_model.batch import BatchRun

        return [BatchRun(model, place) for model, place in asked]

    def _units(self, model: LanguageModel, chosen_only: bool) -> Iterator[Unit]:
        """The units that a model is to judge."""
        for entry in self.reading:
            yield from self._units_in(entry, model, chosen_only)

    def _units_in(self, entry: Entry, model: LanguageModel, chosen_only: bool) -> Iterator[Unit]:
        segments = voted_segments(entry, self.members[0].scheme) if chosen_only else None
        for case in cases_of(entry, model.scheme):
            if segments is None or case.unit.key.segment in segments:
                yield case.unit


def detect(
    data: Any,
    *,
    model: AnyModel | Sequence[AnyModel] | None = None,
    scheme: AnyScheme | None = None,
    profile: str | None = None,
    reader: str | None = None,
    only: str | None = None,
    language: str | None = None,
    keep: bool = False,
    turns: str | None = None,
    engine: Engine | None = None,
    stop: threading.Event | None = None,
    tell: Callable[[Annotator], None] = lambda annotator: None,
    announce: Callable[[EntryStream], None] = lambda reading: None,
    **asking: Unpack[Asking],
) -> Detection:
    """Data judged by a program: a path, entries in memory or a long table.

    `model` is an annotator, a model's file, a shipped model, a method that needs no fitting or a language model
    (`openai:MODEL`, with `endpoint` and the other options of `Asking`); several are a jury; else the model that is
    shipped for the documents' language. `reader` is `small`, or `large` to have every English turn read by the large
    reader of `lapsus-eval[large]` too, which else reads again what the small one doubts. With `keep` the judgments that
    the data holds stand beside. `turns` is `judged` or `all` (see `Detection`). `engine` is where it is judged, here by
    default; `stop`, once set, ends the asking of language models. Nothing is judged before the result is iterated over
    or written.
    """
    refuse_unknown(asking, detect)
    names = [model] if model is None or isinstance(model, Annotator | Path | str) else list(model)
    if len({str(one) if isinstance(one, Path) else one for one in names}) < len(names):
        raise UsageError("judge-named-twice", hint="jury-different-members")
    reading = read(data, only=only, language=language)
    announce(reading)
    usual = usual_profile(reading.format.name)
    if len(names) > 1:
        scheme = scheme or SCHEME
    members = [
        Judges(
            one,
            scheme=scheme,
            profile=profile,
            reader=reader,
            usual=usual,
            tell=tell,
            stop=stop,
            asking=asking,
        )
        for one in names
    ]
    found = Detection(reading, members, keep, turns, engine=engine or Here())
    if not found.asked:
        refuse_asking(asking)
    elif profile is not None and len(found.asked) == len(members):
        raise UsageError("language-model-no-profiles", hint="leave-profile-out")
    return found


def judged_only(turns: str | None, format: Format) -> bool:
    """Whether turns without votes are passed over: the challenge's program pairs answers with judged turns."""
    if turns not in (None, "judged", "all"):
        raise UsageError("no-turns-called", hint="known-judged-all", turns=turns)
    return turns == "judged" or (turns is None and format.name == RUN)


def run_format(target: Path, scheme: str = SCHEME, *, keep: bool = False) -> Format:
    """The challenge's format for zips and folders; any other by its ending."""
    if target.suffix.lower() not in ("", ".zip"):
        return format_for_output(target)
    if scheme != SCHEME:
        raise UsageError(
            "run-challenge-holds-judgments",
            where=str(target),
            hint="name-run-jsonl",
            scheme=SCHEME,
            scheme2=scheme,
        )
    if keep:
        raise UsageError("run-challenge-holds-one", hint="keep-name-run-jsonl")
    return FORMATS.get(RUN)()


def nothing_to_judge(reading: EntryStream) -> InputError:
    """What to say where there is no unit: to say nothing would look as if all were well."""
    where = reading.source.shown
    if not reading.documents:
        error = without_dialogues()
        return InputError(error.what, where=where, hint=error.hint)
    hint = Notice("turns-system-role-assistant")
    return InputError("no-dialogue-turn-system", where=where, hint=hint)


def _without_notes(entry: Entry) -> Entry:
    return Entry(entry.id, entry.document, tuple(map(without_notes, entry.judgments)))


def _count(counts: Counts, judgment: Judgment) -> None:
    for question, answer in judgment.answers.items():
        counter = counts.setdefault(question, Counter())
        if isinstance(answer, tuple):
            counter.update(one.label if isinstance(one, Span) else one for one in answer)
        else:
            counter[str(answer)] += 1
