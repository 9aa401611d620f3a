"""Judgments in words, and lists of them."""

from __future__ import annotations

from typing import Any

import pytest

from lapsus.kinds.text import LONGEST
from lapsus.model import Span
from lapsus.schemes import load_scheme
from lapsus.web.pages.judging.campaign import in_words
from tests.web.helpers import ANSWERS, Bench, chat, pair

SPANS = tuple(Span("text", n, n + 1, label) for n, label in enumerate(("addition", "addition", "repetition")))


@pytest.mark.parametrize(
    ("scheme", "answers", "english", "japanese"),
    [
        ("breakdown", {"breakdown": "X", "comment": "odd"}, ["Breakdown", "odd"], ["明らかな破綻", "odd"]),
        ("error-types", {"types": ("wrong-information",)}, ["Wrong information"], ["誤情報"]),
        (
            "response-quality",
            {"soundness": 4, "emotion": "P"},
            ["Soundness 4", "Emotion: Part"],
            ["正しさ 4", "感情: 一部"],
        ),
        ("semantic-errors", {"errors": SPANS}, ["Addition × 2", "Repetition"], ["追加 × 2", "繰り返し"]),
        ("semantic-errors", {"errors": ()}, ["nothing marked"], ["印なし"]),
        ("error-types", {"types": ()}, ["no label chosen"], ["該当なし"]),
        (
            "response-quality",
            {"fitting-acts": ()},
            ["Fitting acts: no label chosen"],
            ["ふさわしい行為: 該当なし"],
        ),
        ("breakdown", {"breakdown": "gone"}, ["gone"], ["gone"]),
    ],
)
def test_a_judgment_in_words(
    scheme: str, answers: dict[str, Any], english: list[str], japanese: list[str]
) -> None:
    assert in_words(load_scheme(scheme), answers, "en") == english
    assert in_words(load_scheme(scheme), answers, "ja") == japanese


def test_long_remarks_are_cut() -> None:
    (said,) = in_words(load_scheme("breakdown"), {"comment": "x" * 1000}, "en")
    assert len(said) == LONGEST
    assert said.endswith("x…")


def test_a_list_shows_the_text_and_the_words_of_the_reader(bench: Bench) -> None:
    name, ada = bench.campaign(documents=[chat("d", said="said {place}")]), bench.person("Ada")
    unit = ada.next(name)["unit"]
    ada.save(name, unit, ANSWERS["breakdown"])
    (said,) = ada.get(f"/c/{name}.json?lang=ja").json()["judgments"]
    assert (said["text"], said["language"], said["said"]) == ("said 0", "en", ["違和感あり"])
    other = bench.campaign("semantic-errors", [pair("p")])
    ada.save(other, ada.next(other)["unit"], ANSWERS["semantic-errors"])
    (said,) = ada.get(f"/c/{other}.json?lang=en").json()["judgments"]
    assert (said["text"], said["said"]) == ("Ida Vale 👩‍🔬 lives in Orsk", ["Omission", "Addition"])


def test_the_page_turns_to_older_ones(bench: Bench) -> None:
    name = bench.campaign(documents=[chat(f"d{n}", turns=6) for n in range(9)])
    ada = bench.person("Ada")
    while (unit := ada.next(name)["unit"]) is not None:
        ada.save(name, unit, ANSWERS["breakdown"])
    first = ada.get(f"/c/{name}.json").json()
    assert (len(first["judgments"]), first["older"], first["before"]) == (50, False, 5)
    second = ada.get(f"/c/{name}.json?before=5").json()
    assert [said["unit"] for said in second["judgments"]] == [4, 3, 2, 1]
    assert (second["older"], second["before"]) == (True, None)
    assert ada.get(f"/c/{name}.json?before=x").json() == first
