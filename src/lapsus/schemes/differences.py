"""What differs between two versions of a guideline, as far as answers are concerned."""

import hashlib
from collections.abc import Iterator

import msgspec

from lapsus.model import Question, Scheme
from lapsus.notices import Notice

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
