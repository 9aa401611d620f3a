"""Parameters outside their bounds are refused when a method is made; models hang on no library they do not use."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lapsus.annotators import METHODS, load_model, make_annotator
from lapsus.annotators.features import word_forms
from lapsus.annotators.floors import Prior
from lapsus.errors import UsageError
from tests.annotators import invented

BOUNDED = [
    (name, parameter, wrong)
    for name in METHODS.names()
    for parameter, usual in METHODS.get(name).defaults().items()
    if isinstance(usual, int | float)
    for wrong in ("-1", *(("nan", "inf") if isinstance(usual, float) else ()))
]


def test_there_are_parameters_to_bound() -> None:
    assert len(BOUNDED) > 50


@pytest.mark.parametrize(("name", "parameter", "wrong"), BOUNDED)
def test_a_number_that_makes_no_sense_is_refused(name: str, parameter: str, wrong: str) -> None:
    with pytest.raises(UsageError, match=parameter):
        make_annotator(name, {parameter: wrong})


@pytest.mark.parametrize(
    ("name", "parameter"),
    [
        ("acts", "order"),
        ("acts", "hidden"),
        ("lstm", "width"),
        ("ncm", "words"),
        ("crf", "iterations"),
        ("svm", "c"),
        ("svm", "degree"),
        ("encoder", "held"),
    ],
)
def test_none_at_all_is_refused_where_some_are_needed(name: str, parameter: str) -> None:
    with pytest.raises(UsageError, match=f"{parameter}.*not 0"):
        make_annotator(name, {parameter: "0"})


@pytest.mark.parametrize("name", ["prior", "majority", "rules", "encoder"])
def test_a_model_that_asks_for_no_words_hangs_on_no_dictionary(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    documents, votes = invented.data("ja", 4)
    monkeypatch.setattr(word_forms, "knows_words", lambda language: True)
    fitted = make_annotator(name).fit(documents, votes)
    fitted.save(tmp_path / "m.lapsus")
    monkeypatch.setattr(word_forms, "knows_words", lambda language: language != "ja")
    loaded = load_model(tmp_path / "m.lapsus")
    assert [j.answers for j in loaded.judge(documents)] == [j.answers for j in fitted.judge(documents)]


def test_a_model_whose_numbers_ran_away_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Prior, "_distributions", lambda self, units: np.full((len(units), 3), np.nan))
    prior = make_annotator("prior")
    with pytest.raises(UsageError, match="numbers ran away"):
        prior.fit(*invented.data("en", 4))
    assert prior.origin_ is None
