"""Campaigns to try the workbench with: all four guidelines, in English and Japanese, on the invented samples."""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Final, NamedTuple

import msgspec
import numpy as np

from lapsus.annotators import Annotator, as_usual, default_model, load_model, make_annotator, training_data
from lapsus.campaign_stats.adjudication import adjudication_order, campaign_gold, keep_gold, most_frequent
from lapsus.campaign_stats.campaign import CampaignStats
from lapsus.challenge.run_validation import CheckedRun
from lapsus.challenge.service import challenge_tracks, create_from, keep_run, run_here
from lapsus.challenge.testset import Track, gold_documents
from lapsus.formats import read
from lapsus.measures.bootstrap import Floats
from lapsus.measures.scores.breakdown_labels import strict_labels, vote_shares
from lapsus.model import Document, Entry, Judgment, Text, UnitKey
from lapsus.samples import sample_path
from lapsus.schemes import load_scheme
from lapsus.store import Chain, Person, Plan, Store
from lapsus.store.challenge_records import ChallengePlan
from lapsus.store.collect_plan import Collect
from lapsus.store.decisions import How
from lapsus.store.people import new_secret

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
    for language in LANGUAGES:
        collect = Collect(("bot",), language=language, ask=True, topics=TOPICS)
        names = {"en": "Talk to a bot", "ja": "ボットと話す"}
        title = {reader: f"{name} ({LANGUAGES[language]})" for reader, name in names.items()}
        store.campaigns.set_up(
            Plan(name=f"talk-{language}", scheme="breakdown", title=title, collect=collect)
        )
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


TOPICS = (
    {"en": "Talk about your last free day.", "ja": "最近の休みの日について話してください。"},
    {
        "en": "You plan a trip. Talk about where to go.",
        "ja": "旅行の計画について話してください。",
    },
)
"""What to talk about with the bot."""


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


PAUSE = timedelta(hours=2)
"""Nobody works up to the very moment in which the demonstration starts."""


def over_weeks(entries: Iterable[Entry], now: datetime, days: int) -> Iterator[Entry]:
    """The same judgments, given over the last days: earlier documents earlier, some people a little ahead."""
    documents = list(entries)
    many, place = sum(bool(entry.judgments) for entry in documents), -1
    for entry in documents:
        place += bool(entry.judgments)
        begun: dict[str, datetime] = {}
        judgments = []
        for judgment in entry.judgments:
            if judgment.annotator not in begun:
                begun[judgment.annotator] = _begin(judgment.annotator, place / many, now, days)
            at = begun[judgment.annotator] + timedelta(seconds=judgment.seconds or 10)
            begun[judgment.annotator] = at
            judgments.append(msgspec.structs.replace(judgment, at=at))
        yield Entry(entry.id, entry.document, tuple(judgments))


def at_last(judgments: Iterable[Judgment], now: datetime) -> tuple[Judgment, ...]:
    """The judgments of a program, which is asked once, when people are through."""
    return tuple(msgspec.structs.replace(judgment, at=now - PAUSE) for judgment in judgments)


def _begin(annotator: str, part: float, now: datetime, days: int) -> datetime:
    """When somebody begins with a document that is so far into the campaign."""
    dice = random.Random(f"{annotator}/{part:.4f}")
    pace = random.Random(annotator).uniform(0.75, 1.0)
    day = int(days * part * pace + dice.uniform(0, 2))
    morning = (now - timedelta(days=days)).replace(hour=9, minute=0, second=0, microsecond=0)
    return min(morning + timedelta(days=day, minutes=dice.uniform(0, 480)), now - PAUSE)


SCHEME: Final = "breakdown"
PER_UNIT: Final = 12
DECIDED: Final = 3
FINISHED_DAYS: Final = 26
"""How long people judged."""
SPLIT: Final = {"breakdown": "T"}
"""What is decided where two answers come first."""
REASONS: Final = {
    "en": "Opinions are split; some would stumble here.",
    "ja": "意見が割れています。ここで引っかかる人がいます。",
}


def make_finished(
    store: Store, language: str, title: Text, entries: Sequence[Entry], manager: Person
) -> None:
    """A closed campaign with all its judgments, some decisions, and gold."""
    name = f"finished-{language}"
    store.campaigns.create(Plan(name=name, scheme=SCHEME, title=title, per_unit=PER_UNIT, who="named"))
    store.imports.add_judgments(
        name, over_weeks(map(_of_scheme, entries), store.database.clock(), FINISHED_DAYS), check=False
    )
    _judge_by_program(store, name, language, entries)
    stats = CampaignStats(store, name)
    for unit, _ in adjudication_order(stats, "open")[:DECIDED]:
        said = most_frequent(stats, unit, store.judgments.of_unit(name, unit))
        how: How = said.how if said else "own"
        answers, reason = said.answers if said else SPLIT, REASONS[language]
        store.decisions.decide(f"{name}-{unit}", name, unit, manager.id, how, answers, reason=reason)
    keep_gold(store, name, campaign_gold(store, name), "majority", by=manager.id)
    store.campaigns.set_state(name, "closed", by=manager.id)


def _judge_by_program(store: Store, name: str, language: str, entries: Sequence[Entry]) -> None:
    """The shipped detector judges too; it has not seen the samples."""
    detector = as_usual(load_model(default_model(language)))
    now = store.database.clock()
    said = (
        Entry(entry.id, entry.document, at_last(detector.judge([entry.document]), now))
        for entry in entries
        if entry.document
    )
    for _ in store.programs.add_judgments(name, store.programs.add(detector.name), said):
        pass


def _of_scheme(entry: Entry) -> Entry:
    kept = tuple(judgment for judgment in entry.judgments if judgment.scheme == SCHEME)
    return Entry(entry.id, entry.document, kept)


NAME: Final = "sample-challenge"
TITLE: Final = {"en": "Breakdown challenge on invented dialogues", "ja": "作例の対話による破綻検出チャレンジ"}
LEARNED: Final = 6
"""Dialogues of each language that detectors learn from; the others are the test set."""
METHODS: Final = {"majority": "argmax", "prior": "argmax", "rules": "cuts(0.52,1.3)"}
"""Detectors that need nothing that is not installed, each with how it comes to one label."""
TEAMS: Final = {"Kestrel": ((0.6, 0.1), (0.45, 0.1)), "Heron": ((0.5, 0.2),)}
"""Of each run: how much it knows of what people said, and how even its guesses are beside that."""


def make_challenge(store: Store, corpora: Sequence[Sequence[Entry]]) -> None:
    """A revealed challenge with a board for each language."""
    documents: list[Document] = []
    judgments: list[Judgment] = []
    for entries in corpora:
        for entry in entries[LEARNED:]:
            documents += [entry.document] if entry.document else []
            judgments += (judgment for judgment in entry.judgments if judgment.scheme == "breakdown")
    plan = ChallengePlan(NAME, TITLE, source="invented samples")
    challenge = create_from(store, plan, gold_documents(documents, judgments))
    for entries in corpora:
        language = str(entries[0].document.language) if entries[0].document else None
        for annotator in _detectors(entries[:LEARNED]):
            run_here(store, NAME, annotator, language=language, prepare=False)
        if language is not None:
            run_here(store, NAME, _shipped(language), language=language, prepare=False)
    tracks = challenge_tracks(store, challenge)
    for team, knowledge in TEAMS.items():
        store.challenges.add_team(NAME, team)
        id = store.challenges.team_named(NAME, team).id
        for place, (known, even) in enumerate(knowledge):
            for track in tracks.values():
                made = _invented(track, known, even, seed=17 * place + id)
                keep_run(store, challenge, made, team=id, prepare=False)
    store.challenges.set_state(NAME, "revealed")


def _detectors(entries: Sequence[Entry]) -> Iterator[Annotator]:
    documents, votes = training_data(entries)
    for method, decide in METHODS.items():
        yield make_annotator(method, {"decide": decide}).fit(documents, votes)


def _shipped(language: str) -> Annotator:
    """The detector that judges where none is named, as it judges anybody's chats."""
    return as_usual(load_model(default_model(language)))


def _invented(track: Track, known: float, even: float, seed: int) -> CheckedRun:
    """A run that knows a part of what people said and guesses the rest."""
    shares, generator = vote_shares(track.counts), np.random.default_rng(seed)
    guesses: Floats = even / 3 + (1 - even) * generator.dirichlet(np.ones(3), len(shares))
    guesses /= guesses.sum(axis=1, keepdims=True)
    mixed: Floats = np.round(known * shares + (1 - known) * guesses, 4)
    return CheckedRun(track, strict_labels(mixed), mixed, 0)
