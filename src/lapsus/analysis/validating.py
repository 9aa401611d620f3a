"""Judgments held against their guideline: what `lapsus validate` does, and what measures say of broken ones."""

from collections import Counter
from typing import Any

import msgspec

from lapsus.analysis.corpus import Announce
from lapsus.errors import InputError, UsageError
from lapsus.formats import EntryStream, read
from lapsus.model import Judgment, Scheme
from lapsus.schemes import AnyScheme, BrokenRule, given_schemes, load_scheme
from lapsus.schemes.answer_rules import Checker


class BrokenJudgment(msgspec.Struct, frozen=True):
    """A judgment that breaks rules of its guideline, and where it stands."""

    file: str
    judgment: Judgment
    rules: tuple[BrokenRule, ...]

    def problems(self, language: str = "en") -> list[dict[str, Any]]:
        """One record a broken rule, in words of that language."""
        mine = self.judgment
        place = {
            "file": self.file, "document": mine.document, "unit": mine.segment, "annotator": mine.annotator,
            "scheme": mine.scheme,
        }  # fmt: skip
        return [
            {**place, "question": rule.question or None, "rule": rule.rule, "message": rule.message(language)}
            for rule in self.rules
        ]


class Validation(msgspec.Struct, frozen=True):
    """How the judgments of a source keep their guidelines."""

    judgments: int
    broken: tuple[BrokenJudgment, ...]
    mended: dict[str, int]
    """What was put right while reading, and how often."""
    unknown: dict[str, int]
    """How many judgments could not be checked, by their scheme, which is not installed."""
    left_open: dict[str, int]
    """Required questions that programs left open, and how often: they may, so it breaks no rule."""

    def problems(self, language: str = "en") -> list[dict[str, Any]]:
        """Every broken rule."""
        return [problem for one in self.broken for problem in one.problems(language)]


def validate(
    data: Any,
    *,
    scheme: AnyScheme | None = None,
    format: str | None = None,
    only: str | None = None,
    language: str | None = None,
    announce: Announce = lambda reading: None,
) -> Validation:
    """Hold every judgment of a source against the rules of its scheme; with `scheme` those under that one."""
    reading = read(data, format, only=only, language=language)
    announce(reading)
    return validate_reading(reading, None if scheme is None else load_scheme(scheme))


def validate_reading(reading: EntryStream, scheme: Scheme | None = None) -> Validation:
    """The same for a source that is open."""
    checker = Checker([scheme] if scheme else ())
    broken: list[BrokenJudgment] = []
    checked, unknown, others, left_open = 0, Counter[str](), Counter[str](), Counter[str]()
    with given_schemes([scheme] if scheme else ()):
        for entry in reading:
            for judgment in entry.judgments:
                if scheme is not None and judgment.scheme != scheme.id:
                    others[judgment.scheme] += 1
                elif not checker.knows(judgment.scheme):
                    unknown[judgment.scheme] += 1
                else:
                    checked += 1
                    left_open.update(checker.left_open(judgment))
                    if rules := checker.broken(judgment, entry.document):
                        broken.append(BrokenJudgment(reading.source.place, judgment, rules))
    where = reading.source.shown
    if scheme is not None and not checked:
        found = ", ".join(others) or "nothing"
        raise InputError("nothing-judged-under", where=where, hint="there-is", id=scheme.id, schemes=found)
    if not checked and unknown:
        name = next(iter(unknown))
        raise UsageError("scheme-not-installed", where=where, hint="your-own-say-scheme", name=name)
    return Validation(checked, tuple(broken), dict(reading.options.mended), dict(unknown), dict(left_open))
