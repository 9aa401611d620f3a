"""A finished challenge to look at, on the invented samples: runs of small detectors and of invented teams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from lapsus.annotators import Annotator, as_usual, default_model, load_model, make_annotator, training_data
from lapsus.challenge.run_validation import CheckedRun
from lapsus.challenge.service import challenge_tracks, create_from, keep_run, run_here
from lapsus.challenge.testset import Track, gold_documents
from lapsus.measures.bootstrap import Floats
from lapsus.measures.scores import strict_labels, vote_shares
from lapsus.model import Document, Entry, Judgment
from lapsus.store import Store
from lapsus.store.challenge_records import ChallengePlan

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
