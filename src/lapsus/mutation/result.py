"""What a stress test found, as records, tables and a page."""

from collections.abc import Mapping
from typing import Any

import msgspec

from lapsus.errors import LapsusError
from lapsus.measures.score import Interval, Score
from lapsus.model import Scheme
from lapsus.notices import Notice
from lapsus.reports import Table
from lapsus.reports.report import Example, Report, ReportSection
from lapsus.schemes import load_scheme
from lapsus.word_files import LANGUAGES, word_file

SIGNATURE = "planted errors found,clopper-pearson,level=0.95,clusters=documents"


class Share(msgspec.Struct, frozen=True):
    """A share with its interval of 95%."""

    value: float
    low: float
    high: float

    def score(self, n: int) -> Score:
        """For tables."""
        return Score("found", self.value, n, Interval(self.low, self.high), signature=SIGNATURE)


class Found(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was found of one type of error, or of what was planted by one means."""

    type: str
    planted: int
    share: Share
    false_alarms: Share | None = None
    """The same answer to units left as they were."""


class Miss(msgspec.Struct, frozen=True):
    """A planted error that a judge did not find."""

    type: str
    means: str
    source: str
    language: str
    asked: str
    before: str
    text: str
    answers: Mapping[str, Any]


class JudgeStress(msgspec.Struct, frozen=True):
    """What one judge found."""

    judge: str
    total: Found
    types: tuple[Found, ...]
    """The weakest first."""
    means: tuple[Found, ...]
    misses: tuple[Miss, ...]
    """Of the weakest type."""
    unanswered: int = 0
    """Units that it gave no answer about; errors among them are not found."""

    @property
    def weakest(self) -> Found:
        """The type of which it finds least."""
        return self.types[0]


class Stress(msgspec.Struct, frozen=True):
    """A stress test: what was planted, and what each judge found."""

    scheme: str
    version: str
    seed: int
    documents: int
    planted: int
    untouched: int
    judges: tuple[JudgeStress, ...]

    def below(self, least: float, most: float | None = None, language: str = "en") -> tuple[str, ...]:
        """What breaks a bound: types found less often than `least`, more false alarms in all than `most`."""
        found: list[str] = []
        words = Words(language, self.scheme)
        for judge in self.judges:
            for row in judge.types:
                if row.share.value < least:
                    type, share = words.type(row.type), row.share.value
                    found.append(Notice("stress-below", judge=judge.judge, type=type, share=share))
            alarms = judge.total.false_alarms
            if most is not None and alarms is not None and alarms.value > most:
                found.append(Notice("stress-alarms", judge=judge.judge, share=alarms.value))
        return tuple(found)

    def notes(self) -> list[dict[str, Any]]:
        """What a campaign keeps of it, a record for each judge; names of types in every language."""
        words = [Words(language, self.scheme) for language in LANGUAGES]

        def told(row: Found, alarms: Share | None) -> dict[str, Any]:
            names = {language: one.type(row.type) for language, one in zip(LANGUAGES, words, strict=True)}
            bounds = [(one.value, one.low, one.high) if one else (None,) * 3 for one in (row.share, alarms)]
            return {"name": names, "planted": row.planted, "found": bounds[0], "alarms": bounds[1]}

        return [
            {
                "judge": judge.judge,
                "draw": self.seed,
                "total": told(judge.total, judge.total.false_alarms),
                "types": [told(row, row.false_alarms) for row in judge.types],
            }
            for judge in self.judges
        ]

    def table(self, language: str = "en") -> Table:
        """A row for each judge and type, the weakest first, and one for all together."""
        words = Words(language, self.scheme)
        columns = tuple(words(key) for key in ("judge", "type", "planted", "found", "alarms"))
        rows = tuple(
            (judge.judge, words.type(row.type), row.planted, row.share.score(row.planted), _alarms(row, self))
            for judge in self.judges
            for row in (*judge.types, judge.total)
        )
        return Table(columns, rows, data=self, notes=(SIGNATURE,))

    def means_table(self, language: str = "en") -> Table:
        """What was found of errors planted by rule, from examples and by a language model."""
        words = Words(language, self.scheme)
        columns = tuple(words(key) for key in ("judge", "means", "planted", "found"))
        rows = tuple(
            (judge.judge, words(row.type), row.planted, row.share.score(row.planted))
            for judge in self.judges
            for row in judge.means
        )
        return Table(columns, rows)

    def report(self, language: str = "en") -> Report:
        """A page that stands alone, in one language."""
        words = Words(language, self.scheme)
        about = {key: getattr(self, key) for key in ("scheme", "planted", "untouched", "documents", "seed")}
        parts = [
            ReportSection(
                "types", words("by-type"), (words("how"),), (self.table(language),), signatures=(SIGNATURE,)
            ),
            ReportSection("means", words("by-means"), tables=(self.means_table(language),)),
        ]
        for number, judge in enumerate(self.judges):
            title = words("misses").format(judge=judge.judge, type=words.type(judge.weakest.type))
            shown = tuple(words.example(miss) for miss in judge.misses)
            parts.append(ReportSection(f"misses-{number}", title, examples=shown))
        subtitle = words("subtitle").format(**about)
        return Report(words("title"), language, subtitle, tuple(parts), {"table": words("table")})


def _alarms(row: Found, whole: Stress) -> Score | str:
    return "–" if row.false_alarms is None else row.false_alarms.score(whole.untouched)


class Words:
    """The words of tables and pages in one language."""

    def __init__(self, language: str, scheme: str) -> None:
        self._language, self._words = language, word_file("lapsus.mutation", "report_words.yaml")
        self._scheme: Scheme | None
        try:
            self._scheme = load_scheme(scheme)
        except LapsusError:
            self._scheme = None

    def __call__(self, key: str) -> str:
        """A word by its key."""
        return str(self._words[key][self._language])

    def type(self, id: str) -> str:
        """A type's name: ours for rules, the guideline's for its labels and scales."""
        if not id:
            return self("all")
        if id in self._words["types"]:
            return str(self._words["types"][id][self._language])
        for question in self._scheme.questions if self._scheme else ():
            thing = question.label(id) or (question if question.id == id else None)
            if thing is not None:
                return thing.name.get(self._language) or next(iter(thing.name.values()))
        return id

    def example(self, miss: Miss) -> Example:
        """A miss for a page."""
        answers = tuple(
            (f"{id}: {answer if answer not in ([], '') else self('nothing')}", 1)
            for id, answer in miss.answers.items()
        )
        notes = [self("before").format(text=miss.before)] if miss.before else []
        text = f"{miss.asked}\n→ {miss.text}" if miss.asked else miss.text
        return Example(
            f"{miss.source} · {self(miss.means)}", text, miss.language or None, answers, tuple(notes)
        )
