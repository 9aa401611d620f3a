from __future__ import annotations

import math

import numpy as np
import pytest

from lapsus.annotators.challenge.acts import ACTS, NextActs, Ngrams, act_of
from lapsus.annotators.challenge.lstm import (
    factors,
    mutual_information,
    neighbour_counts,
    pair_counts,
)
from lapsus.annotators.challenge.network import PAD, UNKNOWN, Vocabulary, pad
from lapsus.annotators.challenge.svm import fit_softmax, predict_softmax
from lapsus.annotators.features.cues import look


def test_shares_of_all_next_words_sum_to_one() -> None:
    ngrams = Ngrams(3).add([(["a", "b", "c"], 1.0), (["a", "b", "d"], 0.5), (["b", "a"], 1.0)])
    words = ["a", "b", "c", "d", "\x03", "never seen"]
    for before in (("\x02", "\x02"), ("a", "b"), ("x", "y"), ("b", "a")):
        assert sum(ngrams._share((*before, word)) for word in words) == pytest.approx(1)


def test_the_usual_is_likelier_and_weights_count() -> None:
    ngrams = Ngrams(3).add([(["i", "like", "tea"], 1.0)] * 5 + [(["tea", "like", "i"], 0.1)])
    usual, odd = ngrams.usualness(["i", "like", "tea"]), ngrams.usualness(["tea", "like", "i"])
    assert usual.mean > odd.mean
    assert usual.worst <= usual.mean <= 0
    assert ngrams.usualness(["zebra"]).unknown == 1
    assert math.isfinite(Ngrams(2).usualness([]).mean)
    assert Ngrams.from_data(ngrams.to_data()).usualness(["i", "tea"]) == ngrams.usualness(["i", "tea"])


@pytest.mark.parametrize(
    ("text", "language", "act"),
    [
        ("Hello there", "en", "greeting"), ("What do you like?", "en", "ask-open"),
        ("Are you sad?", "en", "ask-yes-no"),
        ("Thank you!", "en", "thanks"), ("I have a dog", "en", "own-fact"), ("I love tea", "en", "own-feeling"),
        ("The sky is blue", "en", "fact"), ("What do you mean?", "en", "lost"), ("Yes, sure", "en", "agree"),
        ("こんにちは", "ja", "greeting"), ("何が好きですか？", "ja", "ask-open"), ("私は医者です", "ja", "own-fact"),
        ("どういう意味ですか", "ja", "lost"), ("そうですね", "ja", "agree"), ("教えてください", "ja", "request"),
    ],
)  # fmt: skip
def test_acts_by_cues(text: str, language: str, act: str) -> None:
    assert act_of(look(text, language)) == act
    assert act in ACTS


def test_the_act_due_next_is_learned_from_good_turns() -> None:
    learned = NextActs.learn([("greeting", "greeting", 1.0)] * 20 + [("greeting", "fact", 0.0)] * 50)
    assert ACTS[int(learned.after("greeting").argmax())] == "greeting"
    assert np.abs(learned.shares.sum(axis=1) - 1).max() < 1e-9


def test_softmax_regression_finds_the_shares() -> None:
    """One yes-no feature and a bias can say two distributions exactly."""
    features = np.array([[0.0], [1.0]] * 50)
    wanted = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]] * 50)
    weights = fit_softmax(features, wanted, penalty=1e-6)
    assert predict_softmax(features, weights) == pytest.approx(wanted, abs=1e-5)
    held = predict_softmax(features, fit_softmax(features, wanted, penalty=1e6))
    assert held == pytest.approx(np.tile(wanted.mean(axis=0), (100, 1)), abs=1e-3)


def test_vectors_come_close_to_what_stands_together() -> None:
    counts = pair_counts([([2, 3], [4]), ([2], [4, 5]), ([], [4])], 6)
    assert counts[2].tolist() == [0, 0, 0, 0, 2, 1]
    near = neighbour_counts([[2, 3, 4]], 6)
    assert (near[2, 3], near[2, 4], near[4, 2]) == (1, 0.5, 0.5)
    matrix = mutual_information(counts)
    assert matrix.min() >= 0
    first, second = factors(matrix, 6, seed=0)
    assert first @ second.T == pytest.approx(matrix, abs=1e-4)


def test_a_vocabulary_keeps_the_frequent_in_a_fixed_order() -> None:
    vocabulary = Vocabulary.of([["b", "a"], ["a", "c", "b"], ["z"]], most=3)
    assert vocabulary.words == ["a", "b", "c"]
    assert vocabulary.encode(["a", "?", "c"]) == [2, UNKNOWN, 4]
    rows, lengths = pad([[2, 3], [], [4]])
    assert rows.tolist() == [[2, 3], [PAD, PAD], [4, PAD]]
    assert lengths.tolist() == [2, 1, 1]
