"""What differs between two versions of a guideline, as far as answers are concerned."""

import hashlib
from collections.abc import Iterator

import msgspec

from lapsus.model import Question, Scheme

_RULES = ("required", "at_least", "at_most", "in_order", "alone", "apart", "ties")


def scheme_digest(scheme: Scheme) -> str:
    """A few letters that differ where anything in a guideline differs, be it one word."""
    return hashlib.blake2b(msgspec.json.encode(scheme, order="sorted"), digest_size=12).hexdigest()


def scheme_differences(one: Scheme, other: Scheme) -> list[str]:
    """What answers under one version cannot be under the other, in words; nothing where only wording differs."""
    return list(_differences(one, other))


def _differences(one: Scheme, other: Scheme) -> Iterator[str]:
    if one.unit != other.unit:
        yield "other units are judged"
    first, second = ({question.id: question for question in scheme.questions} for scheme in (one, other))
    for id in first.keys() - second.keys():
        yield f"{id!r} is not asked any more"
    for id in second.keys() - first.keys():
        yield f"{id!r} is asked now"
    for id in (id for id in first if id in second):
        yield from _of_question(first[id], second[id], _choices(one, first[id]), _choices(other, second[id]))


def _choices(scheme: Scheme, question: Question) -> set[str]:
    return {label.id for label in scheme.labels_of(question)} | {
        str(level.value) for level in question.levels
    }


def _of_question(one: Question, other: Question, before: set[str], now: set[str]) -> Iterator[str]:
    if one.kind != other.kind:
        yield f"{one.id!r} was of kind {one.kind}, and is of kind {other.kind}"
    for word, answers in (("does not know", before - now), ("knows", now - before)):
        if answers:
            yield f"{one.id!r} {word} {', '.join(sorted(answers))}"
    if changed := [name for name in _RULES if getattr(one, name) != getattr(other, name)]:
        yield f"{one.id!r} has other rules ({', '.join(changed)})"
