"""The profile for talk of any kind: which logs it is for, and that good talk is mostly fine to it."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import msgspec
import numpy as np
import pytest

from lapsus.annotators import Judges, default_model, load_model, usual_profile
from lapsus.annotators.base import Annotator
from lapsus.annotators.bulk import Run
from lapsus.annotators.encoder.reader import GENERAL
from lapsus.formats.jsonl import Jsonl
from lapsus.log_check import check_entries
from lapsus.model import Document, Entry, Judgment, Segment
from tests.annotators import invented
from tests.command_process import lapsus, refused

PEOPLE = {
    "en": [
        ["Hey, how was your weekend?", "Pretty good! We drove out to the lake. How about yours?"],
        ["I stayed in and painted the kitchen.", "Oh nice, what colour did you go for?"],
        ["A pale green. It took two coats.", "Green sounds lovely. Was it hard to do on your own?"],
        ["My brother helped on Sunday.", "That's kind of him. Did you at least buy him dinner?"],
        ["Pizza, of course. He ate a whole one.", "Ha, well deserved. I should come over and see it."],
        ["Come by on Friday if you like.", "Friday works for me. Shall I bring anything?"],
        ["Just yourself. Maybe some lemonade.", "Will do. I'll be there around seven."],
    ],
    "ja": [
        ["こんにちは。週末は何をしていましたか？", "こんにちは。家族と動物園に行ってきました。"],
        ["いいですね。何の動物が好きですか？", "キリンが好きです。首が長くてかわいいんですよ。"],
        ["キリンは大きくて迫力がありますよね。", "そうなんです。えさをあげることもできました。"],
        ["それは楽しそうですね。混んでいましたか？", "はい、天気がよかったので親子連れが多かったです。"],
        ["お昼は動物園で食べたんですか？", "はい、お弁当を作って持って行きました。"],
        ["お弁当、いいですね。料理は得意なんですか？", "得意ではないですが、作るのは好きです。"],
        ["私も料理が好きで、よくパンを焼きます。", "パンを焼けるなんてすごいですね。食べてみたいです。"],
    ],
}
"""Two people, turn by turn."""
WRONG = {
    "en": ["The train to Leeds leaves from platform nine.", "My wife has never been to the dentist in Peru."],
    "ja": ["野球の試合は来月の五日に決まりました。", "パスワードを忘れた方はこちらを押してください。"],
}
"""What does not belong into that talk."""


def talk(language: str, wrong: dict[int, str] | None = None) -> Document:
    turns = [
        (who, text) for pair in PEOPLE[language] for who, text in zip(("user", "system"), pair, strict=True)
    ]
    said = [(who, (wrong or {}).get(place, text)) for place, (who, text) in enumerate(turns)]
    return Document("talk", tuple(Segment(str(n), who, text) for n, (who, text) in enumerate(said)), language)  # type: ignore[arg-type]


def broken(judgments: list[Judgment]) -> np.ndarray:
    """How likely each turn is one after which talk breaks down."""
    shares = [judgment.distributions["breakdown"] for judgment in judgments]
    return np.array([share["X"] + share["T"] / 2 for share in shares])


@pytest.fixture(scope="module", params=["en", "ja"])
def general(request: pytest.FixtureRequest) -> Annotator:
    return load_model(default_model(request.param)).under(GENERAL)


def language_of(model: Annotator) -> str:
    assert model.origin_ is not None
    return model.origin_.languages[0]


def test_talk_between_people_is_fine(general: Annotator) -> None:
    language = language_of(general)
    found = broken(list(general.judge([talk(language)])))
    assert (found >= 0.5).mean() <= 0.15
    assert found.mean() < 0.3


def test_what_does_not_belong_is_worse_than_all_before_it(general: Annotator) -> None:
    language = language_of(general)
    first, second = WRONG[language]
    found = broken(list(general.judge([talk(language, {5: first, 11: second})])))
    # What follows upon it may well look odd, too: the talk goes on as if it had not been said.
    for place in (2, 5):
        before = [share for other, share in enumerate(found[:place]) if other != 2]
        assert found[place] > max(before) + 0.05


@pytest.mark.parametrize(
    ("language", "fine", "wrong"),
    [
        ("ja", "こんにちは。今日はいい天気ですね。", ["ぬへもふ、ろめgkそぬれ", "うるさい、死ね、ばか。"]),
        ("en", "Hello! How are you today?", ["xqv kjw pzzt flrm aa qq", "Shut up, you stupid idiot."]),
    ],
)
def test_a_first_turn_is_judged_by_what_it_says(language: str, fine: str, wrong: list[str]) -> None:
    model = load_model(default_model(language))
    documents = [Document(text, (Segment("0", "system", text),), language) for text in (fine, *wrong)]
    for annotator in (model, model.under(GENERAL)):
        good, *bad = broken(list(annotator.judge(documents)))
        assert good < 0.3
        assert min(bad) > good + 0.1


def test_chat_logs_are_judged_in_general_and_the_challenge_as_its_crowds_did(tmp_path: Path) -> None:
    assert (usual_profile("chat"), usual_profile("dbdc")) == (GENERAL, None)
    heard: list[Annotator] = []
    for usual in (GENERAL, None):
        list(Run().entries(Judges(usual=usual, tell=heard.append).assigned([talk("en")])))
    list(
        Run().entries(
            Judges("breakdown-en", usual=GENERAL, profile="dbdc3", tell=heard.append).assigned([talk("en")])
        )
    )
    load_model(default_model("en")).under("dbdc3").save(tmp_path / "third.lapsus")
    list(
        Run().entries(
            Judges(str(tmp_path / "third.lapsus"), usual=GENERAL, tell=heard.append).assigned([talk("en")])
        )
    )
    assert [judge.parameters()["profile"] for judge in heard] == [GENERAL, "", "dbdc3", "dbdc3"]


def test_it_is_adapted_in_general_too_and_the_file_is_whole(general: Annotator, tmp_path: Path) -> None:
    language = language_of(general)
    documents, votes = invented.data(language, 4)
    model = load_model(default_model(language)).under(GENERAL)
    model.adapt(documents, votes).save(tmp_path / "own.lapsus")
    loaded = load_model(tmp_path / "own.lapsus")
    assert loaded.profiles() == [GENERAL]
    assert list(loaded.judge(documents)) == list(model.judge(documents))


def seen_as_broken(entry: Entry) -> Entry:
    """The same, where whoever judged a turn found it broken."""
    broken = (msgspec.structs.replace(one, answers={"breakdown": "X"}) for one in entry.judgments)
    return msgspec.structs.replace(entry, judgments=tuple(broken))


def test_check_learns_from_some_judged_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Jsonl().write(
        [seen_as_broken(invented.entry(number, "en")) for number in range(6)], tmp_path / "judged.jsonl"
    )
    Jsonl().write([invented.entry(number, "en", seed=5) for number in range(4)], tmp_path / "log.jsonl")
    plain, adapted = (
        json.loads(lapsus("check", "log.jsonl", "--json", *more)[0])
        for more in ((), ("--adapt", "judged.jsonl"))
    )
    assert plain["turns"] == adapted["turns"]
    assert plain["cut"] > adapted["cut"]
    assert [one["segment"] for one in plain["findings"]] == [one["segment"] for one in adapted["findings"]]
    (tmp_path / "unjudged.jsonl").write_text('{"id": "1", "messages": [{"role": "user", "content": "Hi"}]}')
    assert "nothing in it is judged" in refused("check", "log.jsonl", "--adapt", "unjudged.jsonl")


def test_the_report_of_a_good_log_is_short() -> None:
    for language in ("en", "ja"):
        check = check_entries(Run().entries(Judges(usual=GENERAL).assigned([talk(language)])))
        assert check.likely <= 1


@pytest.mark.acceptance
@pytest.mark.parametrize(
    ("language", "corpus"),
    [("en", "chat_en_dailydialog"), ("en", "chat_en_sgd_task"), ("ja", "chat_ja_realpersonachat")],
)
def test_real_talk_is_called_broken_in_at_most_a_tenth_of_turns(language: str, corpus: str) -> None:
    path = Path(os.environ["LAPSUS_DATA"], "pool", f"{corpus}.jsonl.gz")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for _, line in zip(range(30), file, strict=False)]
    documents = [
        Document(
            str(number),
            tuple(Segment(str(n), turn["role"], turn["text"]) for n, turn in enumerate(record["turns"])),
            language,
        )
        for number, record in enumerate(records)
    ]
    model = load_model(default_model(language)).under(GENERAL)
    assert (broken(list(model.judge(documents))) >= 0.5).mean() <= 0.1
