"""The reader of the shipped models: what it takes in, its views, and that it finds what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from lapsus.annotators.encoder.chat_reader import IN_GENERAL, ChatReader
from lapsus.annotators.encoder.reader import GENERAL, HOME, Passage, TurnWords
from lapsus.annotators.library import default_model
from lapsus.annotators.model_files import State, read_model
from tests.annotators.invented import ASKED, GREETED

FILMS = (
    *GREETED,
    TurnWords(True, "そうですね。映画は好きですか？"),
    TurnWords(False, "はい、洋画をよく見ます。"),
)
GARDEN = (TurnWords(False, "I grow tomatoes on my balcony."), TurnWords(True, "Nice! Do they get enough sun?"),
          TurnWords(False, "All afternoon. Do you think I should water them every day?"))  # fmt: skip
GOOD_AND_BAD = [
    (
        Passage(GREETED, "そうですね。とても暑いですね。"),
        Passage(GREETED, "こんにちは。何かお話しましょうか？"),
    ),
    (Passage(ASKED, "かき氷が好きです。"), Passage(ASKED, "こんにちは。何かお話しましょうか？")),
    (Passage(ASKED, "私は冷たいそうめんが好きですね。"), Passage(ASKED, "飛行機の免許は持っていますか？")),
    (Passage(ASKED, "夏はやっぱりスイカが好きです。"), Passage(ASKED, "本当に暑いですね。")),
    (Passage(FILMS, "洋画はいいですね。"), Passage(FILMS, "地震の時は机の下に入るんですか？")),
    (Passage(FILMS, "私も洋画が好きです。"), Passage(FILMS, "野菜の値段が高いので困っているそうです。")),
]
"""Good turns, and in the same place one that repeats itself, leaves the topic or does not answer."""
PAIRS = {
    "ja": GOOD_AND_BAD,
    "en": [
        (Passage(GARDEN, good), Passage(GARDEN, bad))
        for good, bad in (
            ("In the summer, yes, once a day is good.", "The train to Leeds leaves from platform nine."),
            ("I would, as long as the pots drain well.", "My favourite film is about a robot."),
            ("Every day is fine while it is hot.", "qq zzt flrm aa pq"),
        )
    ],
}


def restored(language: str) -> ChatReader:
    _, model = read_model(default_model(language))
    arrays = {name.removeprefix("reader."): array for name, array in model.arrays.items()}
    return ChatReader(State(model.data["reader_data"], arrays, model.files))


@pytest.fixture(scope="module", params=["en", "ja"])
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def reader(language: str) -> ChatReader:
    return restored(language)


@pytest.mark.parametrize("view", [HOME, GENERAL])
def test_what_is_wrong_is_told_from_what_is_right(language: str, reader: ChatReader, view: str) -> None:
    right = reader.logits([good for good, _ in PAIRS[language]], view)
    wrong = reader.logits([bad for _, bad in PAIRS[language]], view)
    shares = [np.exp(rows[:, :3]) / np.exp(rows[:, :3]).sum(axis=1, keepdims=True) for rows in (right, wrong)]
    risks = [found[:, 2] + found[:, 1] / 2 for found in shares]
    assert (risks[0] < risks[1]).all()


@pytest.mark.parametrize("view", [HOME, GENERAL])
def test_logits_do_not_depend_on_company(language: str, reader: ChatReader, view: str) -> None:
    passages = [passage for pair in PAIRS[language] for passage in pair]
    alone = np.vstack([reader.logits([passage], view) for passage in passages])
    assert np.array_equal(reader.logits(passages, view), alone)


def test_reads_nothing_and_odd_things(reader: ChatReader) -> None:
    for view in (HOME, GENERAL):
        width = reader.logits([Passage((), "a")], view).shape[1]
        assert reader.logits([], view).shape == (0, width)
        odd = [
            Passage((), ""),
            Passage((), "🎉"),
            Passage((TurnWords(False, ""),), "hello there"),
            Passage(GREETED * 40, "。"),
            Passage(GARDEN * 40, "x " * 900),
        ]
        assert np.isfinite(reader.logits(odd, view)).all()


def test_in_general_all_is_said_and_the_calibration_takes_the_beginning(reader: ChatReader) -> None:
    said = reader.said([Passage(GARDEN, "Yes.")], GENERAL)
    assert said.shape[1] > IN_GENERAL
    assert np.array_equal(reader.logits([Passage(GARDEN, "Yes.")], GENERAL), said[:, :IN_GENERAL])


def test_a_turn_that_opens_a_dialogue_is_judged_in_general_in_japanese() -> None:
    reader = restored("ja")
    opening = Passage((), "こんにちは。")
    assert np.array_equal(reader.logits([opening]), reader.logits([opening], GENERAL)[:, :3])
    assert not np.array_equal(
        reader.logits([Passage(GREETED, "はい。")]),
        reader.logits([Passage(GREETED, "はい。")], GENERAL)[:, :3],
    )


def test_a_reader_can_be_kept(language: str, reader: ChatReader) -> None:
    passages = [good for good, _ in PAIRS[language]]
    assert np.array_equal(ChatReader(reader.state()).logits(passages), reader.logits(passages))
