"""How the Japanese machine learns: replies from people's talk, judgments in another language, judged turns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from japanese_data import Judged
from numpy.typing import NDArray

from lapsus.annotators.encoder.japanese import scene_of
from lapsus.annotators.encoder.japanese_kernel import (
    Findings,
    Matrix,
    Reply,
    Scale,
    Scene,
    foreign_kernel,
    kernel,
    likeness,
    usual_reply,
)
from lapsus.annotators.encoder.japanese_vectors import WIDTH, Vectors

Arrays: TypeAlias = dict[str, NDArray[Any]]

FOREIGN_RIDGE, RIDGE = 2.0, 1.0
_SHRINK = 0.001
_JITTER = 0.01


class Recipe(NamedTuple):
    """Which talk a guess at the next turn learns from: how much each source counts, and from how many turns."""

    talk: float
    foreign: float
    own: float
    ridge: float
    turns: int


RECIPES = {
    "talk": Recipe(1, 0, 0, 100, 1),
    "users": Recipe(0, 1, 2, 30, 1),
    "all": Recipe(1, 2, 5, 100, 2),
}


class Sums(NamedTuple):
    """All that least squares needs of pairs of turns and replies."""

    known: NDArray[np.float64]
    crossed: NDArray[np.float64]
    replies: NDArray[np.float64]
    total: NDArray[np.float64]
    count: float

    @classmethod
    def of(cls, triples: Matrix) -> Sums:
        """From rows of three vectors: the reply, the turn before it, the one before that."""
        said = triples[:, 0].astype(np.float64)
        known = np.hstack([triples[:, 1], triples[:, 2], np.ones((len(said), 1))]).astype(np.float64)
        return cls(known.T @ known, known.T @ said, said.T @ said, said.sum(axis=0), float(len(said)))


def talk_sums(conversations: Iterable[Sequence[str]], vectors: Vectors) -> Sums:
    """Every turn of people's talk with the two before it."""
    rows = [vectors.of(conversation) for conversation in conversations]
    return Sums.of(np.concatenate([np.stack([r[2:], r[1:-1], r[:-2]], axis=1) for r in rows if len(r) > 2]))


def user_sums(judged: Judged, vectors: Vectors) -> Sums:
    """What users said to systems: a person's reply fits, whatever it answers."""
    said: dict[tuple[str, int], list[str]] = {}
    for passage, dialogue in zip(judged.passages, judged.dialogues, strict=True):
        for place in range(2, len(passage.context)):
            if not passage.context[place].by_system:
                texts = [passage.context[place - back].text for back in range(3)]
                said[str(dialogue), place] = texts
    rows = vectors.of([text for texts in said.values() for text in texts])
    return Sums.of(rows.reshape(-1, 3, WIDTH))


def fit_reply(recipe: Recipe, sources: Sequence[Sums]) -> Reply:
    """A guess at the next turn, by ridge regression."""
    weights = (recipe.talk, recipe.foreign, recipe.own)
    known, crossed, replies, total, count = (
        sum(weight * part for weight, part in zip(weights, parts, strict=True))
        for parts in zip(*sources, strict=True)
    )
    kept = [*range(recipe.turns * WIDTH), 2 * WIDTH]
    known, crossed = known[np.ix_(kept, kept)], crossed[kept]
    guess = np.linalg.solve(known + recipe.ridge * np.eye(len(kept)), crossed)
    usual = total / count
    missed = (replies - crossed.T @ guess - guess.T @ crossed + guess.T @ known @ guess) / count
    spread = replies / count - np.outer(usual, usual)
    guess[-1] -= usual
    found = (guess, usual, _whitening(missed), _whitening(spread))
    return Reply(*(part.astype(np.float16).astype(np.float32) for part in found))


def _whitening(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    shrunk = covariance + _SHRINK * np.eye(len(covariance))
    return np.linalg.cholesky(np.linalg.inv(shrunk))


class Foreign(NamedTuple):
    """Judged turns in another language."""

    scene: Scene
    """Its plain numbers are on a scale of their own."""
    shares: NDArray[np.float64]

    @classmethod
    def of(cls, judged: Judged, vectors: Vectors) -> Foreign:
        """The turns of one corpus."""
        scene = scene_of(judged.passages, vectors)
        return cls(scene._replace(plain=Scale.of(scene.plain)(scene.plain)), judged.shares)


class Prepared(NamedTuple):
    """A machine but for its answers: all that it takes from the turns it holds without a look at their votes."""

    scene: Scene
    plain_scale: Scale
    scale: Scale
    foreign: Matrix
    foreign_usual: Matrix
    replies: dict[str, Reply]
    numbers: Matrix

    def numbers_of(self, scene: Scene) -> Matrix:
        """The numbers of other turns, on the same scale."""
        plain = self.plain_scale(scene.plain)
        return np.hstack([plain, self.scale(_learned(self, scene, plain))])


def prepare(scene: Scene, foreign: Sequence[Foreign], sources: Sequence[Sums]) -> Prepared:
    """Carry the judgments in another language over to these turns, and learn how replies go."""
    plain_scale = Scale.of(scene.plain)
    scaled = scene._replace(plain=plain_scale(scene.plain))
    carried = [_carried(corpus, scaled) for corpus in foreign]
    weights = np.hstack([weight for weight, _ in carried]).astype(np.float32)
    usual = np.concatenate([mean for _, mean in carried]).astype(np.float32)
    replies = {name: fit_reply(recipe, sources) for name, recipe in RECIPES.items()}
    none = np.zeros(0, dtype=np.float32)
    draft = Prepared(scaled, plain_scale, Scale(none, none), weights, usual, replies, scaled.plain)
    learned = _learned(draft, scaled, scaled.plain)
    scale = Scale.of(learned)
    return draft._replace(scale=scale, numbers=np.hstack([scaled.plain, scale(learned)]).astype(np.float32))


def _carried(corpus: Foreign, held: Scene) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights of the held turns with which they say what the foreign judgments say: regression on a subset."""
    usual = corpus.shares.mean(axis=0)
    across = foreign_kernel(likeness(corpus.scene, held), corpus.scene.plain, held.plain)
    among = foreign_kernel(likeness(held, held), held.plain, held.plain)
    bend = (across.T @ across).astype(np.float64) + FOREIGN_RIDGE * among + _JITTER * np.eye(len(among))
    return np.linalg.solve(bend, across.T @ (corpus.shares - usual)), usual


def _learned(prepared: Prepared, scene: Scene, plain: Matrix) -> Matrix:
    like = likeness(scene, prepared.scene)
    near = foreign_kernel(like, plain, prepared.scene.plain)
    foreign = near @ prepared.foreign + prepared.foreign_usual
    return np.hstack([foreign, *(reply.fit_of(scene) for reply in prepared.replies.values())])


def solve(
    gram: Matrix, shares: NDArray[np.float64], ridge: float = RIDGE
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The answers of the held turns, and the mean that they are added to: kernel ridge regression."""
    usual = shares.mean(axis=0)
    bend = gram.astype(np.float64) + ridge * np.eye(len(gram))
    return np.linalg.solve(bend, shares - usual), usual


def unseen(gram: Matrix, shares: NDArray[np.float64], dialogues: NDArray[np.str_]) -> NDArray[np.float64]:
    """What machines say of each dialogue that were solved without it, from one inverse for all of them."""
    usual = shares.mean(axis=0)
    inverse = np.linalg.inv(gram.astype(np.float64) + RIDGE * np.eye(len(gram)))
    answers = inverse @ (shares - usual)
    said = np.zeros_like(shares)
    for name in np.unique(dialogues):
        own = np.flatnonzero(dialogues == name)
        said[own] = shares[own] - np.linalg.solve(inverse[np.ix_(own, own)], answers[own])
    return said


def own_findings(prepared: Prepared, said: NDArray[np.float64], dialogues: NDArray[np.str_]) -> Findings:
    """What is found out about the held turns, each without its own dialogue."""
    others = dialogues[:, None] != dialogues
    usual = usual_reply(prepared.scene, prepared.scene, others)
    return Findings(prepared.numbers, usual, said.astype(np.float32))


def own_gram(prepared: Prepared) -> Matrix:
    """How like the held turns are to each other."""
    return kernel(likeness(prepared.scene, prepared.scene), prepared.numbers, prepared.numbers)


def cross_gram(prepared: Prepared, scene: Scene) -> Matrix:
    """How like other turns are to those held."""
    like = likeness(scene, prepared.scene)
    return kernel(like, prepared.numbers_of(scene), prepared.numbers)
