"""Validation of submitted runs, turn by turn; all faults are reported at once."""

import io
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import regex

from lapsus.challenge.testset import Track, system_turns
from lapsus.errors import InputError, LapsusError
from lapsus.formats.dbdc import breakdown_labels
from lapsus.formats.dbdc_records import RunDialogue, RunLabel, RunTurn, decode
from lapsus.formats.dbdc_run import SUFFIX, TOLERANCE
from lapsus.formats.source import Member, Source
from lapsus.measures.bootstrap import Floats
from lapsus.measures.scores.breakdown_labels import LABELS, Codes
from lapsus.model import Judgment, UnitKey, in_language
from lapsus.notices import Notice, localized
from lapsus.store.challenge_records import GoldDocument
from lapsus.word_files import word_file

MOST_FILES = 20_000
LARGEST = 64 << 20
"""Bytes of all files together, unpacked. A thousand dialogues with many systems take a tenth of it."""
LARGEST_FILE = 1 << 20
"""Bytes of one file. Answers about a thousand turns of a dialogue take a tenth of it."""
SECONDS = 10.0
"""Of a processor's time to read a run: one of a thousand dialogues takes less than one."""
_MEGABYTE = 1 << 20


SHOWN = 100
"""How many faults are named; a run that is wrong in one way is often wrong everywhere."""
_UNSHOWABLE = regex.compile(r"[\p{C}\u2028\u2029]")
_LONGEST = 200


class RunProblem(msgspec.Struct, frozen=True):
    """One fault of a run."""

    kind: str
    file: str
    turn: str | None = None
    values: Mapping[str, str] = {}

    def text(self, language: str = "en") -> str:
        """What is wrong, without the place."""
        words: str = in_language(word_file("lapsus.challenge", "problems.yaml")[self.kind], language)
        return words.format(**{key: localized(value, language) for key, value in self.values.items()})

    def __str__(self) -> str:
        return self.line()

    def line(self, language: str = "en") -> str:
        """The place, and what is wrong there."""
        turn = "" if self.turn is None else f", {localized(Notice('turn', segment=self.turn), language)}"
        return f"{self.file}{turn}: {self.text(language)}"


def problem(kind: str, file: str, turn: str | None = None, **values: object) -> RunProblem:
    """A fault. Text of the run's files is shortened and cleaned for display."""
    shown = {key: _shown(value) for key, value in values.items()}
    return RunProblem(kind, showable(file), None if turn is None else showable(turn), shown)


def _shown(value: object) -> str:
    if not isinstance(value, Notice):
        return showable(str(value))
    fields = {name: v if isinstance(v, int | float) else _shown(v) for name, v in value.fields.items()}
    return Notice(value.id, **fields)


def showable(text: str) -> str:
    """Untrusted text, shortened, its control characters escaped."""
    short = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return _UNSHOWABLE.sub(lambda match: f"\\u{{{ord(match.group()):x}}}", short)


class RunError(InputError):
    """A run that is not taken. Nothing of it was kept."""

    def __init__(self, problems: Sequence[RunProblem], where: str, count: int) -> None:
        self.problems = tuple(problems)
        self.count = count
        super().__init__(
            f"{self._reasons()}{self._lines('en')}\n",
            where=showable(where),
            hint=Notice("nothing-kept-mend-hand"),
        )

    def in_language(self, language: str) -> LapsusError:
        """Every fault in that language."""
        found = super().in_language(language)
        found.what = f"{localized(self._reasons(), language)}{self._lines(language)}\n"
        return found

    def _reasons(self) -> Notice:
        return Notice("run-one-reason") if self.count == 1 else Notice("run-reasons", count=self.count)

    def _lines(self, language: str) -> str:
        more = Notice("and-more", count=self.count - SHOWN) if self.count > SHOWN else ""
        lines = [
            *(one.line(language) for one in self.problems),
            *([localized(more, language)] if more else []),
        ]
        return "".join(f"\n  {line}" for line in lines)


class Answer(NamedTuple):
    """What a run says of a turn."""

    label: str
    shares: tuple[float, float, float] | None


class CheckedRun(NamedTuple):
    """A sound run: an answer for each scored turn of its language, in their order."""

    track: Track
    labels: Codes
    distributions: Floats
    one_hot: int
    """How many turns came without a distribution; theirs is 1 for the label and 0 for the others."""
    out_of_place: tuple[str, ...] = ()
    """Dialogues whose turns are answered about out of order, so that a program that pairs by position would err."""


@dataclass
class _Check:
    """A run being read."""

    documents: Mapping[str, GoldDocument]
    labels: Mapping[str, str]
    problems: list[RunProblem] = field(default_factory=list)
    """The first ones, as many as are shown."""
    count: int = 0
    """How many there are in all."""
    answers: dict[UnitKey, Answer] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    """In which file each dialogue was answered about."""
    unread: set[str] = field(default_factory=set)
    """Dialogues whose file is there and cannot be read."""
    seen: set[UnitKey] = field(default_factory=set)
    """Turns of the dialogues that the run speaks of, rightly or not."""

    def say(self, kind: str, file: str, turn: str | None = None, **values: object) -> None:
        self.count += 1
        if self.count <= SHOWN:
            self.problems.append(problem(kind, file, turn, **values))

    def end(self, kind: str, file: str, **values: object) -> None:
        """A problem for which nothing more is read: shown, however many there are."""
        self.count += 1
        self.problems[SHOWN - 1 :] = [problem(kind, file, None, **values)]

    def unreadable(self, member: Member, detail: str) -> None:
        self.unread.add(_stem(member))
        self.say("unreadable", member.name, detail=detail)

    def dialogue(self, run: RunDialogue, member: Member) -> None:
        file = member.name
        name = run.dialogue_id or _stem(member)
        if name not in self.documents:
            self.say("unknown-dialogue", file, dialogue=name)
        elif name in self.files:
            self.say("doubled-dialogue", file, dialogue=name, other=self.files[name])
        else:
            self.files[name] = file
            roles = {segment.id: segment.role for segment in self.documents[name].document.segments}
            for turn in run.turns:
                self._turn(turn, UnitKey(name, _segment(turn)), file, roles)

    def _turn(self, turn: RunTurn, unit: UnitKey, file: str, roles: Mapping[str, str]) -> None:
        segment = str(unit.segment)
        if not turn.labels:
            return
        if segment not in roles:
            self.say("unknown-turn", file, segment)
            return
        if unit in self.seen:
            self.say("doubled-turn", file, segment)
            return
        self.seen.add(unit)
        if roles[segment] != "system":
            self.say("user-turn", file, segment)
        elif len(turn.labels) > 1:
            self.say("several-answers", file, segment, count=len(turn.labels))
        elif (answer := self._answer(turn.labels[0], file, segment)) is not None:
            self.answers[unit] = answer

    def _answer(self, given: RunLabel, file: str, turn: str) -> Answer | None:
        label = self.labels.get(given.breakdown)
        if label is None:
            self.say("unknown-label", file, turn, label=repr(given.breakdown))
            return None
        shares = (given.o, given.t, given.x)
        if shares == (None, None, None):
            return Answer(label, None)
        if given.o is None or given.t is None or given.x is None:
            self.say("part-of-distribution", file, turn)
            return None
        whole = (given.o, given.t, given.x)
        if not all(0 <= share <= 1 + TOLERANCE for share in whole):
            self.say("bad-probability", file, turn, shares=", ".join(f"{share:g}" for share in whole))
            return None
        if abs(sum(whole) - 1) > TOLERANCE:
            self.say("bad-sum", file, turn, sum=f"{sum(whole):.4f}")
            return None
        return Answer(label, whole)

    def track(self, all_tracks: Mapping[str, Track], file: str) -> Track | None:
        """The language that the run is for; then what it leaves out."""
        found = sorted({self.documents[name].language for name in self.files})
        if len(found) > 1:
            self.say("two-languages", file, languages=", ".join(found))
            return None
        if len(found) != 1 or found[0] not in all_tracks:
            return None
        track = all_tracks[found[0]]
        for gold in track.documents:
            self._missing(gold)
        return track

    def _missing(self, gold: GoldDocument) -> None:
        name = gold.document.id
        if not gold.votes or (name in self.unread and name not in self.files):
            return
        if name not in self.files:
            self.say("missing-dialogue", f"{name}{SUFFIX}", dialogue=name, turns=len(gold.votes))
            return
        for turn in system_turns(gold.document):
            if turn in gold.votes and UnitKey(name, turn) not in self.seen:
                self.say("missing-turn", self.files[name], turn)


def check_run(all_tracks: Mapping[str, Track], path: Path, called: str | None = None) -> CheckedRun:
    """Read a zip or a folder as a run for a test set. All that is wrong with it is said at once.

    `called` is what the file is called in messages, where the path is one of our own making.
    """
    called = called or path.name
    documents = {gold.document.id: gold for track in all_tracks.values() for gold in track.documents}
    check = _Check(documents, breakdown_labels())
    try:
        for member in _bounded(Source(path), check, called):
            _read(member, check)
    except InputError as error:
        # Our own path to the file is nobody's business.
        check.end("not-a-run", called, detail=error.what)
        raise RunError(check.problems, called, check.count) from error
    track = check.track(all_tracks, called)
    if check.problems or track is None:
        raise RunError(check.problems or [problem("no-files", called)], called, check.count or 1)
    return _checked(track, check.answers)


def _bounded(source: Source, check: _Check, called: str) -> Iterator[Member]:
    """The run's files, as far as they are few, small and quickly read. Each is read no further than it may be."""
    left, until = LARGEST, time.thread_time() + SECONDS
    for count, member in enumerate(source.members(SUFFIX)):
        if count == MOST_FILES:
            check.end("too-many-files", called, most=f"{MOST_FILES:,}")
            return
        if time.thread_time() > until:
            check.end("too-slow", called, most=f"{SECONDS:g}")
            return
        try:
            with member.open() as stream:
                content = stream.read(min(left, LARGEST_FILE) + 1)
        except InputError as error:
            check.unreadable(member, error.what)
            continue
        left -= len(content)
        if left < 0:
            check.end("too-large", called, most=LARGEST // _MEGABYTE)
            return
        if len(content) > LARGEST_FILE:
            check.unreadable(member, Notice("larger-mib", largest=LARGEST_FILE // _MEGABYTE))
            continue
        yield Member(member.name, partial(io.BytesIO, content))


def _read(member: Member, check: _Check) -> None:
    try:
        run = decode(RunDialogue, member)
    except InputError as error:
        check.unreadable(member, error.what)
    except RecursionError:
        check.unreadable(member, Notice("nested-too-deeply"))
    else:
        check.dialogue(run, member)


def _stem(member: Member) -> str:
    return member.path.name.removesuffix(SUFFIX)


def _segment(turn: RunTurn) -> str:
    return (turn.lapsus.id if turn.lapsus else None) or str(turn.turn_index)


def run_of_judgments(track: Track, judgments: Iterable[Judgment]) -> CheckedRun:
    """A run made of a detector's judgments."""
    answers = {}
    for judgment in judgments:
        shares = judgment.distributions.get("breakdown")
        told = None if not shares else tuple(float(shares.get(label, 0.0)) for label in LABELS)
        answers[judgment.unit] = Answer(str(judgment.answers["breakdown"]), told)  # type: ignore[arg-type]
    if missing := [unit for unit in track.units if unit not in answers]:
        raise InputError(
            "turns-not-judged-run",
            where=Notice("document-segment", document=missing[0].document, segment=missing[0].segment),
            count=len(missing),
            count2=len(track.units),
        )
    return _checked(track, answers)


def _checked(track: Track, answers: Mapping[UnitKey, Answer]) -> CheckedRun:
    given = [answers[unit] for unit in track.units]
    labels = np.array([LABELS.index(answer.label) for answer in given], dtype=np.int8)
    rows = [answer.shares or _one_hot(answer.label) for answer in given]
    bare = sum(answer.shares is None for answer in given)
    return CheckedRun(track, labels, np.array(rows), bare, _out_of_place(track.units, answers))


def _one_hot(label: str) -> tuple[float, float, float]:
    return (float(label == "O"), float(label == "T"), float(label == "X"))


def _out_of_place(units: Sequence[UnitKey], answers: Iterable[UnitKey]) -> tuple[str, ...]:
    """Dialogues whose scored turns are answered about in another order."""
    scored: dict[str, list[str | None]] = {}
    for unit in units:
        scored.setdefault(unit.document, []).append(unit.segment)
    said: dict[str, list[str | None]] = {}
    known = set(units)
    for unit in answers:
        if unit in known:
            said.setdefault(unit.document, []).append(unit.segment)
    return tuple(name for name, turns in scored.items() if said[name] != turns)
