"""What a judge is made of: vectors, pieces, regression, agreement."""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import msgspec
import numpy as np
import pytest
import tokenizers
from numpy.typing import NDArray

from lapsus.annotators.encoder.tokens import Subwords
from lapsus.annotators.judge import sentence_vectors as vectors_module
from lapsus.annotators.judge.agreement import agreement
from lapsus.annotators.judge.decisions import Decision, decide, fitted_decision
from lapsus.annotators.judge.people_answers import PeopleAnswers, people_answers
from lapsus.annotators.judge.ranking import average_precision, ranking
from lapsus.annotators.judge.regression import fit, predict
from lapsus.annotators.judge.sentence_vectors import sentence_vectors
from lapsus.annotators.library import default_model
from lapsus.annotators.optional_libraries import one_thread
from lapsus.errors import UsageError
from lapsus.kinds import Kind, kind_of, kinds_of
from lapsus.kinds.label import LabelKind
from lapsus.kinds.votes import votes_of
from lapsus.model import Judgment, Label, Question, Scheme
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
    # The libraries that were loaded when it was first used; what others load later we do not use.
    controller = one_thread._controller.select(user_api="blas")

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


def test_any_thread_limits_and_lifts() -> None:
    controller = one_thread._controller.select(user_api="blas")

    def limits() -> list[int]:
        return [one["num_threads"] for one in controller.info()]

    with controller.limit(limits=2), ThreadPoolExecutor(1) as pool:
        with one_thread():
            assert limits() == [1] * len(limits())
        limit = one_thread()
        pool.submit(limit.__enter__).result()
        assert limits() == [1] * len(limits())
        limit.__exit__(None, None, None)
        assert limits() == [2] * len(limits())


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
    answers = people_answers(kind, votes, votes.units)
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
    assert agreement(people_answers(kind, alone, alone.units), ["O", "X", "O"]).people.value is None


def chosen(*said: tuple[str, ...]) -> tuple[Kind, PeopleAnswers]:
    """Answers to a question that allows several labels or none, one of a document each."""
    scheme = load_scheme("error-types")
    kind = kind_of(msgspec.structs.replace(scheme.questions[0], at_least=0), scheme)
    judgments = [
        Judgment(f"d{n}", "s", "p", "error-types", "1.2", {"types": labels}) for n, labels in enumerate(said)
    ]
    votes = votes_of(judgments, kind)
    return kind, people_answers(kind, votes, votes.units)


def test_none_is_chosen_only_where_people_choose_none() -> None:
    """Of many labels none is likelier than not; that does not make none of them the likeliest answer."""
    types = [("repetition",), ("wrong-information",), ("ignore-question",)]
    kind, given = chosen(*types * 4)
    unsure = 0.4 * given.shares + 0.05
    assert decide(kind, unsure[0], Decision(np.zeros(given.shares.shape[1]))) == ()
    decision = fitted_decision(given, unsure)
    assert decision.least == 1
    assert [decide(kind, row, decision) for row in unsure[:3]] == types
    nothing = np.full(given.shares.shape[1], 1e-4)
    assert len(decide(kind, nothing, decision)) == 1  # type: ignore[arg-type]
    kind, given = chosen(*[("repetition",), (), (), ()] * 4)
    decision = fitted_decision(given, 0.3 * given.shares)
    assert decision.least == 0
    assert [decide(kind, row, decision) for row in 0.3 * given.shares[:2]] == [("repetition",), ()]


def voted(scheme: Scheme, question: str, votes: Sequence[Sequence[object]]) -> PeopleAnswers:
    """Answers to a question, a list a unit, each unit of a document of its own."""
    kind = kinds_of(scheme)[question]
    judgments = [
        Judgment(f"d{unit}", "s", f"p{who}", scheme.id, scheme.version, {question: answer})  # type: ignore[dict-item]
        for unit, answers in enumerate(votes)
        for who, answer in enumerate(answers)
    ]
    found = votes_of(judgments, kind)
    return people_answers(kind, found, found.units)


def test_each_label_is_given_as_often_as_by_people_however_rare() -> None:
    generator = np.random.default_rng(3)
    truth = generator.choice(3, size=400, p=[0.85, 0.12, 0.03])
    given = voted(load_scheme("breakdown"), "breakdown", [["OTX"[one]] for one in truth])
    logits = generator.normal(size=(400, 3)) + np.eye(3)[truth] + np.log([0.85, 0.12, 0.03])
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert (shares.argmax(axis=1) == 2).sum() < (truth == 2).sum()
    decision = fitted_decision(given, shares)
    said = Counter(decide(given.kind, row, decision) for row in shares)
    for place, label in enumerate("OTX"):
        assert said[label] == pytest.approx(int((truth == place).sum()), abs=4), label


def test_a_scale_is_used_as_widely_as_people_use_it() -> None:
    scheme = load_scheme("response-quality")
    levels = [1, 2, 3, 4, 5] * 20
    given = voted(scheme, "relevance", [[level] for level in levels])
    timid = np.full((100, 5), 0.17) + 0.15 * np.eye(5)[np.array(levels) - 1]
    assert {given.kind.best(row) for row in timid} == {3}
    decision = fitted_decision(given, timid)
    assert [decide(given.kind, row, decision) for row in timid] == levels


def test_ranking_by_hand() -> None:
    """AUC counts pairs of a yes and a no, those with the same score half; chance has .5."""
    given_yes = voted(load_scheme("breakdown"), "breakdown", [["X"], ["O"], ["X"], ["O"], ["O"]])
    scores = np.array([0.9, 0.5, 0.5, 0.1, 0.6])
    shares = np.column_stack([1 - scores, np.zeros(5), scores])
    found = ranking(given_yes, shares, ["X", "O", "X", "O", "X"])
    x = found.choices["X"]
    assert x.auc == pytest.approx((3 + 1 + 0.5) / 6)
    assert x.average_precision == pytest.approx((1 + 2 / 4) / 2)
    assert (x.prevalence, x.said, x.precision) == pytest.approx((0.4, 0.6, 2 / 3))
    assert found.choices["T"].auc is None
    assert found.people is None
    assert average_precision(scores, np.zeros(5)) is None
    split = voted(load_scheme("breakdown"), "breakdown", [["X", "X"], ["O", "O"], ["X", "O"]])
    assert ranking(split, np.eye(3)[[2, 0, 1]], ["X", "O", "T"]).people == pytest.approx(2 / 3)


def test_intervals_of_auc_hold_the_truth() -> None:
    """Over samples of documents whose units are alike, 95% intervals hold the true AUC about as often as they say."""
    generator, held = np.random.default_rng(0), 0
    for _ in range(200):
        shift = np.repeat(generator.normal(size=30), 4) * 0.5
        yes = np.repeat(generator.random(30) < 0.5, 4)
        scores = 1 / (1 + np.exp(-(generator.normal(size=120) + shift + yes)))
        judged = voted_yes(yes)
        found = ranking(judged, np.column_stack([scores, 1 - scores]), ()).judge
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 0.7365 <= found.high
    assert 0.9 <= held / 200 <= 0.99


def voted_yes(yes: NDArray[np.bool_]) -> PeopleAnswers:
    """Answers of one person to a yes/no question, four units a document."""
    labels = tuple(Label(one, {"en": one}, {"en": one}) for one in ("yes", "no"))
    question = Question("q", "label", {"en": "q"}, {"en": "q"}, labels=labels)
    shares = np.column_stack([yes, ~yes]).astype(np.float64)
    rows = np.arange(len(yes))
    return PeopleAnswers(LabelKind(question, labels), rows, rows // 4, shares, ("yes", "no"), shares)
