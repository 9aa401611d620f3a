"""Where schemes come from: ours, others', a team's files; how versions differ; answers by the ids of labels."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TypeAlias

import msgspec

from lapsus.errors import InputError, UsageError
from lapsus.kinds import Kind, kinds_of
from lapsus.model import Answer, Document, Entry, Judgment, Question, Scheme
from lapsus.model.frozen import EMPTY
from lapsus.notices import Notice
from lapsus.registry import did_you_mean, points_of
from lapsus.schemes.scheme_check import check_scheme
from lapsus.text_files import read_text

OWN = ("breakdown", "error-types", "response-quality", "semantic-errors", "preference")
GROUP = "lapsus.schemes"
"""Entry points of this group name a package that holds `<scheme>.yaml`."""
AnyScheme: TypeAlias = Scheme | Path | str
"""How a guideline is asked for: itself, its file or its name."""
_GIVEN: ContextVar[Mapping[str, Scheme]] = ContextVar("given schemes", default=EMPTY)


def scheme_names() -> list[str]:
    """Every scheme that can be asked for by name."""
    return [*OWN, *sorted(points_of(GROUP).keys() - set(OWN))]


def load_scheme(name: AnyScheme) -> Scheme:
    """A scheme by its name, or from a file where `name` is a path to one; one that is loaded already as it is."""
    if isinstance(name, Scheme):
        return name
    if isinstance(name, Path) or name.endswith((".yaml", ".yml")):
        return read_scheme(Path(name))
    return _load_named(name)


def read_scheme(path: Path | Traversable) -> Scheme:
    """A scheme from a file; the first of its errors is raised where it has any."""
    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("cannot-read", where=str(path), error=error) from error
    scheme, problems = check_scheme(text, path.name)
    errors = [problem for problem in problems if problem.severe]
    if scheme is None or errors:
        first, others = errors[0].message, len(errors) - 1
        raise InputError(
            Notice("text-and-more", text=first, count=others) if others else first,
            where=Notice("line", name=path.name, line=errors[0].line),
            hint="lapsus-scheme-check-lists",
            name=path.name,
        )
    return scheme


def known_scheme(name: str) -> Scheme | None:
    """The guideline that judgments name: given with them (`given_schemes`) or installed; None where it is neither."""
    return _GIVEN.get().get(name) or _installed(name)


@contextmanager
def given_schemes(schemes: Iterable[Scheme]) -> Iterator[None]:
    """While this lasts, judgments are understood by these guidelines, such as a campaign's own, before installed."""
    before = _GIVEN.set({**_GIVEN.get(), **{scheme.id: scheme for scheme in schemes}})
    try:
        yield
    finally:
        _GIVEN.reset(before)


@cache
def _installed(name: str) -> Scheme | None:
    return load_scheme(name) if name in scheme_names() else None


@cache
def _load_named(name: str) -> Scheme:
    if name in OWN:
        return read_scheme(files("lapsus.schemes") / "data" / f"{name}.yaml")
    if point := points_of(GROUP).get(name):
        return read_scheme(files(point.module) / f"{name}.yaml")
    raise UsageError("no-scheme-called", hint=did_you_mean(name, scheme_names()), name=name)


_RULES = ("required", "at_least", "at_most", "in_order", "alone", "apart", "ties")


def scheme_digest(scheme: Scheme) -> str:
    """A few letters that differ where anything in a guideline differs, be it one word."""
    return hashlib.blake2b(msgspec.json.encode(scheme, order="sorted"), digest_size=12).hexdigest()


def scheme_differences(one: Scheme, other: Scheme) -> list[str]:
    """What answers under one version cannot be under the other, in words; nothing where only wording differs."""
    return list(_differences(one, other))


def _differences(one: Scheme, other: Scheme) -> Iterator[str]:
    if one.unit != other.unit:
        yield Notice("scheme-other-units")
    first, second = ({question.id: question for question in scheme.questions} for scheme in (one, other))
    for id in first.keys() - second.keys():
        yield Notice("scheme-not-asked", id=id)
    for id in second.keys() - first.keys():
        yield Notice("scheme-asked-now", id=id)
    for id in (id for id in first if id in second):
        yield from _of_question(first[id], second[id], _choices(one, first[id]), _choices(other, second[id]))


def _choices(scheme: Scheme, question: Question) -> set[str]:
    return {label.id for label in scheme.labels_of(question)} | {
        str(level.value) for level in question.levels
    }


def _of_question(one: Question, other: Question, before: set[str], now: set[str]) -> Iterator[str]:
    if one.kind != other.kind:
        yield Notice("scheme-other-kind", id=one.id, before=one.kind, now=other.kind)
    if gone := before - now:
        yield Notice("scheme-answers-gone", id=one.id, answers=", ".join(sorted(gone)))
    if new := now - before:
        yield Notice("scheme-answers-new", id=one.id, answers=", ".join(sorted(new)))
    if changed := [name for name in _RULES if getattr(one, name) != getattr(other, name)]:
        yield Notice("scheme-other-rules", id=one.id, names=", ".join(changed))


def spelt_answers(
    scheme: Scheme, answers: Mapping[str, Answer], document: Document | None
) -> dict[str, Answer]:
    """Answers under a scheme in their one form (`Kind.spelt`); what the scheme does not know stays as it is."""
    kinds = kinds_of(scheme)
    return {
        id: kinds[id].spelt(answer, document) if id in kinds else answer for id, answer in answers.items()
    }


class Spelling:
    """Puts the answers of entries into their one form. What no guideline at hand knows stays as it is."""

    def __init__(self) -> None:
        self._kinds: dict[str, Mapping[str, Kind]] = {}

    def by_ids(self, entry: Entry) -> Entry:
        """The entry; the same one where every answer is in its one form already."""
        # Readers share answers between judgments, so that few of a crowd's need a look.
        different = {(one.scheme, id(one.answers), id(one.distributions)): one for one in entry.judgments}
        if all(self.judgment(one, entry.document) is one for one in different.values()):
            return entry
        spelt = (self.judgment(judgment, entry.document) for judgment in entry.judgments)
        return Entry(entry.id, entry.document, tuple(spelt))

    def judgment(self, judgment: Judgment, document: Document | None) -> Judgment:
        """One judgment; the same object where nothing changes."""
        kinds = self._kinds_of(judgment.scheme)
        answers = {
            id: spelt
            for id, answer in judgment.answers.items()
            if (kind := kinds.get(id)) and (spelt := kind.spelt(answer, document)) is not answer
        }
        shares = {
            id: spelt
            for id, given in judgment.distributions.items()
            if (kind := kinds.get(id)) and (spelt := kind.spellings.shares(given)) is not given
        }
        if not answers and not shares:
            return judgment
        return msgspec.structs.replace(
            judgment,
            answers={**judgment.answers, **answers},
            distributions={**judgment.distributions, **shares},
        )

    def _kinds_of(self, name: str) -> Mapping[str, Kind]:
        if name not in self._kinds:
            scheme = known_scheme(name)
            self._kinds[name] = kinds_of(scheme) if scheme else {}
        return self._kinds[name]
