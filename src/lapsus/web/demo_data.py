"""Campaigns to try the workbench with: all four guidelines, in English and Japanese, on the invented samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from lapsus.formats import read
from lapsus.model import Entry, Text, UnitKey
from lapsus.samples import sample_path
from lapsus.schemes import load_scheme
from lapsus.store import Chain, Person, Plan, Store
from lapsus.store.people import new_secret
from lapsus.web.demo_challenge import make_challenge
from lapsus.web.demo_finished import make_finished
from lapsus.web.demo_times import over_weeks

LANGUAGES = {"en": "English", "ja": "日本語"}
FINISHED = {"en": ", finished", "ja": "：終了"}
"""What the title of a finished campaign ends in, by the language of the reader."""
MANAGER = "Mori"
ANNOTATORS = ("Ada", "花子")


class Sample(NamedTuple):
    """Which guideline on which data, and how many judge each unit."""

    scheme: str
    data: str
    per_unit: int
    finished: int
    """How many documents the invented annotators have judged through; in the others two places are left."""
    chained: bool = False


SAMPLES = (
    Sample("breakdown", "dialogues", per_unit=4, finished=8),
    Sample("error-types", "dialogues", per_unit=3, finished=2, chained=True),
    Sample("response-quality", "dialogues", per_unit=3, finished=4),
    Sample("semantic-errors", "pairs", per_unit=3, finished=6),
)
PLACES_LEFT = 2
DAYS = 20
"""For how long people have been judging in the campaigns that go on."""
CHAINED_DAYS = 16
"""For how long in those whose units the votes of others choose: some have to be there first."""
FLAGS = {
    "en": ("avery", "Is this still about the question before? I was not sure."),
    "ja": ("伊吹", "前の質問への答えと見てよいか、迷いました。"),
}
"""What somebody wants to talk about, by the language of the campaign."""


def make_demo(store: Store) -> dict[str, Person]:
    """Fill an empty store; who can sign in, by the secret of a link."""
    for sample in SAMPLES:
        for language in LANGUAGES:
            _campaign(store, sample, language)
    make_challenge(store, [_entries(f"dialogues-{language}") for language in LANGUAGES])
    people = [store.people.add(MANAGER, "manager")]
    for language, (annotator, words) in FLAGS.items():
        store.flags.add(
            f"flag-{language}", f"breakdown-{language}", 5, store.people.named(annotator).id, words
        )
    for language in LANGUAGES:
        title = {reader: words + FINISHED[reader] for reader, words in _title("breakdown", language).items()}
        make_finished(store, language, title, _entries(f"dialogues-{language}"), people[0])
    for name, language in zip(ANNOTATORS, LANGUAGES, strict=True):
        people.append(store.people.add(name, language=language))
    return {new_secret(): person for person in people}


def _campaign(store: Store, sample: Sample, language: str) -> None:
    name = f"{sample.scheme}-{language}"
    plan = Plan(
        name=name,
        scheme=sample.scheme,
        title=_title(sample.scheme, language),
        per_unit=sample.per_unit,
        order="given",
        chain=Chain(f"breakdown-{language}") if sample.chained else None,
        show_votes=sample.chained,
    )
    store.campaigns.create(plan)
    entries = _chosen(language) if sample.chained else _judged(sample, language)
    # The samples keep the rules, which their own tests see to; checking again would only delay the start.
    given = over_weeks(entries, store.database.clock(), CHAINED_DAYS if sample.chained else DAYS)
    store.imports.add_judgments(name, given, check=False)


def _title(scheme: str, language: str) -> Text:
    words = load_scheme(scheme).title
    return {reader: f"{title} ({LANGUAGES[language]})" for reader, title in words.items()}


@cache
def _entries(name: str) -> Sequence[Entry]:
    return tuple(read(sample_path(name), "jsonl"))


def _judged(sample: Sample, language: str) -> Iterator[Entry]:
    """The samples with as many judgments as leave something to do."""
    for place, entry in enumerate(_entries(f"{sample.data}-{language}")):
        mine = [judgment for judgment in entry.judgments if judgment.scheme == sample.scheme]
        many = sample.per_unit - (0 if place < sample.finished else PLACES_LEFT)
        names = sorted({judgment.annotator for judgment in mine})[:many]
        kept = tuple(judgment for judgment in mine if judgment.annotator in names)
        yield Entry(entry.id, entry.document, kept)


def _chosen(language: str) -> Iterator[Entry]:
    """Error types only where the votes that the demonstration has on breakdown choose the unit."""
    votes, types = SAMPLES[:2]
    rule = load_scheme(types.scheme).target
    assert rule is not None  # noqa: S101  our own guideline has one
    for voted, typed in zip(_judged(votes, language), _judged(types, language), strict=True):
        counts: dict[UnitKey, Counter[str]] = {}
        for judgment in voted.judgments:
            counts.setdefault(judgment.unit, Counter())[str(judgment.answers[rule.question])] += 1
        admitted = {
            unit
            for unit, labels in counts.items()
            if labels.total() >= votes.per_unit and rule.admits(labels)
        }
        kept = tuple(judgment for judgment in typed.judgments if judgment.unit in admitted)
        yield Entry(typed.id, typed.document, kept)
