"""What a judge is made of: vectors, pieces, regression, agreement."""

from __future__ import annotations

import zipfile
from concurrent.futures import ThreadPoolExecutor

import msgspec
import numpy as np
import pytest
import threadpoolctl
import tokenizers
from numpy.typing import NDArray

from lapsus.annotators.features.subwords import Subwords
from lapsus.annotators.judge import sentence_vectors as vectors_module
from lapsus.annotators.judge.agreement import agreement
from lapsus.annotators.judge.given_answers import GivenAnswers, given_answers
from lapsus.annotators.judge.learning import best_taste, choosing, decide
from lapsus.annotators.judge.regression import fit, predict
from lapsus.annotators.judge.sentence_vectors import one_thread, sentence_vectors
from lapsus.annotators.library import default_model
from lapsus.errors import UsageError
from lapsus.kinds import Kind, kind_of
from lapsus.kinds.votes import votes_of
from lapsus.model import Judgment
from lapsus.schemes import load_scheme

HOSTILE = [
    "",
    "  ",
    "?",
    "👩‍👩‍👧‍👦🎉",
    "e\u0301te\u0301 \u202e \x00\x1f",
    "ｈｅｌｌｏ！？１２３",
    "Ünïcödé Straße don't e-mail@x.org $5.00 ©™ 東京タワー",
    "a" * 101,
    "ǅ İstanbul ½ ﬁne\tand\u3000wide",
    "\ud800 half",
]


def test_vectors_know_meaning_across_languages_and_batches() -> None:
    texts = [
        "The weather is nice today.",
        "今日は天気がいいですね。",
        "Il fait beau.",
        "My printer is broken.",
    ]
    rows = sentence_vectors().of(texts)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(4), abs=1e-3)
    likeness = rows @ rows.T
    assert min(likeness[0, 1], likeness[0, 2]) > likeness[0, 3] + 0.2
    alone = np.vstack([sentence_vectors().of([text + " "]) for text in texts])
    assert alone == pytest.approx(sentence_vectors().of([text + " " for text in texts]), abs=2e-5)
    odd = sentence_vectors().of([*HOSTILE, "word " * 20_000, "言葉" * 30_000])
    assert np.isfinite(odd).all()
    assert not odd[:2].any()


def test_vectors_are_made_in_several_threads_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors_module, "_REMEMBERED", 2)
    vectors = sentence_vectors()
    vectors.forget()
    texts = [f"text {number}" for number in range(6)]

    def many(first: int) -> NDArray[np.float32]:
        return np.vstack([vectors.of([texts[(first + place) % 6]]) for place in range(60)])

    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(many, range(3)))
    alone = vectors.of(texts)
    for first, rows in enumerate(found):
        assert rows == pytest.approx(alone[[(first + place) % 6 for place in range(60)]], abs=2e-5)


def test_the_limit_on_threads_is_lifted_by_the_last_who_needs_it() -> None:
    controller = threadpoolctl.ThreadpoolController().select(user_api="blas")

    def limits() -> list[int]:
        return [one["num_threads"] for one in controller.info()]

    with controller.limit(limits=2):
        first, second = one_thread(), one_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert limits() == [1] * len(limits())
        second.__exit__(None, None, None)
        assert limits() == [2] * len(limits())
        assert limits()


def test_weights_that_are_not_the_known_ones_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors_module, "FILES", dict.fromkeys(vectors_module.FILES, "0" * 64))
    with pytest.raises(UsageError, match="is not the file of weights"):
        vectors_module.sentence_vectors.__wrapped__()


def test_word_pieces_are_those_of_the_usual_library() -> None:
    with zipfile.ZipFile(default_model("en")) as archive:
        content = archive.read("files/tokenizer.json")
    usual = tokenizers.Tokenizer.from_str(content.decode())
    usual.no_truncation()
    usual.no_padding()
    ours = Subwords(content)
    for text in HOSTILE[:-1]:
        assert ours.ids(text) == usual.encode(text, add_special_tokens=False).ids, text
    assert ours.id_of("[SEP]") == usual.token_to_id("[SEP]")
    with pytest.raises(ValueError, match="knows no"):
        ours.id_of("[NOPE]")
    with pytest.raises(ValueError, match="cannot be read"):
        Subwords(b'{"model": {}}')


def test_byte_pairs_are_those_of_the_usual_library() -> None:
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=300, special_tokens=["[UNK]"], show_progress=False)
    usual = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="[UNK]"))  # noqa: S106
    split = tokenizers.pre_tokenizers.Split(tokenizers.Regex("[。！？ ]"), "isolated")
    usual.pre_tokenizer = tokenizers.pre_tokenizers.Sequence([split])
    usual.train_from_iterator(
        ["そうですね。そうですか！いいですね。 天気がいいですね", "abab abc aabb"] * 9, trainer
    )
    ours = Subwords(usual.to_str().encode())
    for text in ["そうですねそうですか。いい天気", "aabbab 未知の語。", *HOSTILE[:-1]]:
        assert ours.ids(text) == usual.encode(text, add_special_tokens=False).ids, text
    assert len(ours.ids("言葉" * 30_000)) == 60_000


@pytest.mark.parametrize("exclusive", [True, False])
def test_regression_ends_where_the_gradient_is_zero(exclusive: bool) -> None:
    generator = np.random.default_rng(1)
    rows = generator.normal(size=(200, 6)).astype(np.float32)
    raised = np.exp(rows @ generator.normal(size=(6, 3)))
    shares = raised / raised.sum(axis=1, keepdims=True) if exclusive else raised / (1 + raised)
    weights = fit(rows, shares, 0.01, exclusive=exclusive)
    off = predict(rows, weights, exclusive=exclusive) - shares
    slope = rows.T @ off + 0.01 * len(rows) * weights.slopes
    assert np.abs(slope).max() < 0.1
    assert np.abs(off).mean() < 0.05


def given(*votes: str) -> list[Judgment]:
    """Each text holds the votes on one turn of a document of its own."""
    return [
        Judgment(f"d{unit}", "s", f"p{who}", "breakdown", "1.0", {"breakdown": label})
        for unit, labels in enumerate(votes)
        for who, label in enumerate(labels)
    ]


def test_agreement_by_hand() -> None:
    scheme = load_scheme("breakdown")
    kind = kind_of(scheme.questions[0], scheme)
    votes = votes_of(given("OO", "OX", "XX", "OO"), kind)
    answers = given_answers(kind, votes, votes.units)
    found = agreement(answers, ["O", "O", "X", "O"])
    assert found.people.value == pytest.approx(3 / 4)
    assert found.judge.value == pytest.approx((1 + 0.5 + 1 + 1) / 4)
    assert (found.floor.value, found.constant) == (pytest.approx(5 / 8), "O")
    chance = 3 / 4 * 5 / 8 + 1 / 4 * 3 / 8
    assert found.judge_beyond.value == pytest.approx((0.875 - chance) / (1 - chance))
    expected = (5 / 8) ** 2 + (3 / 8) ** 2
    assert found.people_beyond.value == pytest.approx((0.75 - expected) / (1 - expected))
    constant = agreement(answers, ["O"] * 4)
    assert constant.judge_beyond.value == pytest.approx(0)
    assert constant.judge.value == constant.floor.value
    alone = votes_of(given("O", "X", "X"), kind)
    assert agreement(given_answers(kind, alone, alone.units), ["O", "X", "O"]).people.value is None


def chosen(*said: tuple[str, ...]) -> tuple[Kind, GivenAnswers]:
    """Answers to a question that allows several labels or none, one of a document each."""
    scheme = load_scheme("error-types")
    kind = kind_of(msgspec.structs.replace(scheme.questions[0], at_least=0), scheme)
    judgments = [
        Judgment(f"d{n}", "s", "p", "error-types", "1.2", {"types": labels}) for n, labels in enumerate(said)
    ]
    votes = votes_of(judgments, kind)
    return kind, given_answers(kind, votes, votes.units)


def test_none_is_chosen_only_where_people_choose_none() -> None:
    """Of many labels none is likelier than not; that does not make none of them the likeliest answer."""
    kind, given = chosen(*[("repetition",), ("wrong-information",), ("ignore-question",)] * 4)
    unsure = 0.4 * given.shares + 0.05
    assert decide(kind, unsure[0], given.shares.mean(axis=0), 0.0) == ()
    taste = best_taste(given, unsure)
    assert taste.least == 1
    firm = choosing(kind, taste.least)
    assert [decide(firm, row, given.shares.mean(axis=0), taste.balance) for row in unsure[:3]] == [
        ("repetition",), ("wrong-information",), ("ignore-question",),
    ]  # fmt: skip
    kind, given = chosen(*[("repetition",), (), (), ()] * 4)
    assert best_taste(given, 0.9 * given.shares).least == 0
    assert choosing(kind, 0) is kind
