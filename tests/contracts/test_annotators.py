"""What every method must do, ours and other packages'."""

from __future__ import annotations

import json
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from lapsus.annotators import METHODS, Annotator, load_model, make_annotator
from lapsus.annotators.breakdown import decision
from lapsus.errors import InputError, LapsusError, UsageError
from lapsus.model import Document, Judgment, Segment
from lapsus.model.votes import LabelVotes
from lapsus.schemes import broken_rules, load_scheme
from tests.annotators import invented

NAMES = invented.FOR_TURNS
CHALLENGE = [name for name in NAMES if METHODS.get(name).made_for == "breakdown"]
"""The challenge's methods, which have decision rules and learn from however little."""
LANGUAGES = ("en", "ja")
SMALL: dict[str, dict[str, Any]] = {
    "lstm": {"members": 1, "epochs": 3, "hidden": 8, "width": 8},
    "acts": {"members": 2, "epochs": 3, "hidden": 8},
    "ncm": {"members": 1, "epochs": 2, "replies": 1, "hidden": 8, "width": 8},
    "encoder": {"decide": "argmax"},
}
"""Settings under which a method is fitted in a second, and says the likeliest label."""
HOSTILE = [
    "",
    " ",
    "?",
    "👩‍👩‍👧‍👦🎉",
    "e\u0301te\u0301 \u202e \x00\x1f",
    "{quote} %s \\ <b>",
    "word " * 20_000,
    "言葉" * 30_000,
    "ｈｅｌｌｏ！？１２３",
]


@cache
def fitted(name: str, language: str = "en") -> Annotator:
    return make_annotator(name, SMALL.get(name), "breakdown").fit(*invented.data(language))


def judged(annotator: Annotator, documents: list[Document]) -> list[Judgment]:
    return list(annotator.judge(documents))


def shares(judgments: list[Judgment]) -> np.ndarray[Any, Any]:
    return np.array([[j.distributions["breakdown"][label] for label in "OTX"] for j in judgments])


def dialogue(texts: list[str], language: str | None = "en", id: str = "d") -> Document:
    roles = ("system", "user")
    return Document(
        id,
        tuple(Segment(str(n), roles[n % 2], text) for n, text in enumerate(texts)),  # type: ignore[arg-type]
        language,
    )


@pytest.fixture(params=CHALLENGE)
def method(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_it_is_called_what_it_is_registered_as(name: str) -> None:
    kind = METHODS.get(name)
    assert kind.method == name
    assert kind.title


def test_parameters_are_plain_and_make_the_same_annotator(name: str) -> None:
    annotator = make_annotator(name, SMALL.get(name), "breakdown")
    parameters = annotator.parameters()
    assert json.loads(json.dumps(parameters)) == parameters
    assert make_annotator(name, parameters).parameters() == parameters
    assert set(SMALL.get(name, {})) <= set(parameters)


def test_a_parameter_it_does_not_have_is_refused(method: str) -> None:
    with pytest.raises(UsageError, match=r"no parameter 'decision'.*did you mean 'decide'"):
        make_annotator(method, {"decision": "argmax"})


def test_unfitted_it_says_so(name: str, tmp_path: Path) -> None:
    annotator = make_annotator(name)
    if not annotator.needs_fit:
        pytest.fail("write this test for a method that needs no fitting")
    with pytest.raises(UsageError, match="has not learned yet"):
        annotator.judge([])
    with pytest.raises(UsageError, match="has not learned yet"):
        annotator.save(tmp_path / "m.lapsus")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_system_turn_is_judged_once_and_in_order(name: str, language: str) -> None:
    documents, _ = invented.data(language, 4, seed=1)
    judgments = judged(fitted(name, language), documents)
    turns = [(d.id, s.id) for d in documents for s in d.segments if s.role == "system"]
    assert [(j.document, j.segment) for j in judgments] == turns
    assert {(j.annotator, j.scheme, j.version, j.revision) for j in judgments} == {
        (name, "breakdown", "1.0", 1)
    }
    assert not any(broken_rules(load_scheme("breakdown"), j.answers) for j in judgments)
    rows = shares(judgments)
    assert np.abs(rows.sum(axis=1) - 1).max() < 1e-6
    assert rows.min() >= 0
    if name in CHALLENGE:
        assert [j.answers["breakdown"] for j in judgments] == [
            "OTX"[code] for code in decision("argmax")(rows)
        ]


def test_the_decision_rule_is_a_parameter(method: str) -> None:
    documents, votes = invented.data("en", 6)
    annotator = make_annotator(method, {**SMALL.get(method, {}), "decide": "cuts(1.1,0)"}).fit(
        documents, votes
    )
    assert {j.answers["breakdown"] for j in annotator.judge(documents)} == {"X"}


def test_the_same_seed_gives_the_same_model(name: str, tmp_path: Path) -> None:
    again = make_annotator(name, SMALL.get(name), "breakdown").fit(*invented.data("en"))
    fitted(name).save(tmp_path / "a")
    again.save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("language", LANGUAGES)
def test_saved_and_loaded_it_judges_the_same(name: str, language: str, tmp_path: Path) -> None:
    documents, _ = invented.data(language, 4, seed=1)
    path = tmp_path / "m.lapsus"
    fitted(name, language).save(path)
    loaded = load_model(path)
    for ours, theirs in zip(
        judged(loaded, documents), judged(fitted(name, language), documents), strict=True
    ):
        # How many turns are read at once moves the last digits of a sum, and with them what is rounded.
        assert msgspec.structs.replace(ours, distributions={}) == msgspec.structs.replace(
            theirs, distributions={}
        )
        for question, shares in theirs.distributions.items():
            assert ours.distributions[question] == pytest.approx(dict(shares), abs=1e-4)
    assert loaded.parameters() == fitted(name, language).parameters()
    assert loaded.origin_ == fitted(name, language).origin_
    assert Annotator.load(path).name == name


def test_it_says_which_documents_it_learned_from(name: str, tmp_path: Path) -> None:
    known, others = invented.data("en", 3)[0], invented.data("en", 3, seed=1)[0]
    fitted(name).save(tmp_path / "m.lapsus")
    renamed = [msgspec.structs.replace(one, id=f"other {one.id}") for one in known]
    for annotator in (fitted(name), load_model(tmp_path / "m.lapsus")):
        assert all(judgment.metadata["learned"] is True for judgment in judged(annotator, renamed))
        assert not any("learned" in judgment.metadata for judgment in judged(annotator, others))


def test_it_says_which_model_judges(name: str, tmp_path: Path) -> None:
    documents, _ = invented.data("en", 1, seed=1)
    annotator = fitted(name)
    annotator.save(tmp_path / "another-name.lapsus")
    loaded = load_model(tmp_path / "another-name.lapsus")
    assert judged(annotator, documents)[0].metadata["setting"] == {"model": annotator.digest}
    assert len(annotator.digest) == 16
    assert loaded.digest == annotator.digest
    other = make_annotator(name, SMALL.get(name), "breakdown").fit(*invented.data("en", 6, seed=5))
    # Whatever the floor learned from, the usual label is the same model.
    assert (other.digest == annotator.digest) == (name == "majority")
    if annotator.adapts:
        before = other.digest
        assert other.adapt(*invented.data("en", 6, seed=7)).digest != before
        marks = [
            judgment.metadata["learned"] for judgment in judged(other, invented.data("en", 2, seed=5)[0])
        ]
        assert all(marks)


def test_a_model_of_before_says_nothing_of_its_documents(name: str, tmp_path: Path) -> None:
    fitted(name).save(tmp_path / "m.lapsus")
    with zipfile.ZipFile(tmp_path / "m.lapsus") as archive:
        header = json.loads(archive.read("model.json"))
    del header["origin"]["texts"]
    old = damaged(tmp_path / "m.lapsus", tmp_path / "old.lapsus", model=json.dumps(header).encode())
    judgments = judged(load_model(old), invented.data("en", 2)[0])
    assert judgments
    assert not any("learned" in judgment.metadata for judgment in judgments)


def test_a_model_holds_no_pickle(name: str, tmp_path: Path) -> None:
    path = tmp_path / "m.lapsus"
    fitted(name).save(path)
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
    assert {"model.json", "learned.json"} <= names
    assert all(n.endswith((".json", ".safetensors", ".onnx", ".txt", ".md", ".npy")) for n in names)


@pytest.mark.parametrize("language", LANGUAGES)
def test_later_turns_change_nothing(name: str, language: str) -> None:
    documents, _ = invented.data(language, 3, seed=2)
    whole = {(j.document, j.segment): j for j in judged(fitted(name, language), documents)}
    for keep in (1, 3, 5, 8):
        cut = [msgspec.structs.replace(d, segments=d.segments[:keep]) for d in documents]
        for judgment in judged(fitted(name, language), cut):
            full = whole[judgment.document, judgment.segment]
            assert shares([judgment]) == pytest.approx(shares([full]), abs=1e-6)
            assert judgment.metadata == full.metadata


def test_how_units_are_batched_does_not_matter(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [*invented.data("en", 5, seed=3)[0], dialogue(["Hi.", "word " * 300, "Yes. " * 50])]
    at_once = shares(judged(fitted(name), documents))
    monkeypatch.setattr("lapsus.annotators.base.BATCH", 3)
    # Shares are told to five places: the last one may differ by one.
    assert shares(judged(fitted(name), documents)) == pytest.approx(at_once, abs=1.5e-5)


def test_nothing_to_learn_from_is_an_error(method: str) -> None:
    _, votes = invented.data("en", 2)
    with pytest.raises(InputError, match="no judged system turn"):
        make_annotator(method, SMALL.get(method), "breakdown").fit([], votes)
    other = LabelVotes(votes.units, votes.annotators, ("yes", "no", "maybe"), votes.codes)
    with pytest.raises(InputError, match="know no label 'O'"):
        make_annotator(method, SMALL.get(method), "breakdown").fit(invented.data("en", 2)[0], other)


@pytest.mark.parametrize("language", [*LANGUAGES, None])
def test_hostile_texts_are_judged(name: str, language: str | None) -> None:
    texts = [text for text in HOSTILE for _ in range(2)]
    documents = [dialogue(texts, language), dialogue(texts[::-1], language, "e")]
    odd = (Segment("a", "passage", "[music]"), Segment("b", "system", "Hi."), Segment("c", "system", "Hi."))
    documents.append(Document("odd", odd, language))
    rows = shares(judged(fitted(name, language or "en"), documents))
    assert len(rows) == 2 * len(HOSTILE) + 2
    assert np.isfinite(rows).all()


def test_it_learns_from_hostile_and_tiny_data(method: str) -> None:
    texts = [text[:300] for text in HOSTILE]
    documents = [dialogue(texts, id="x"), dialogue(texts[::-1], id="y")]
    units = [(d.id, s.id) for d in documents for s in d.segments if s.role == "system"]
    judgments = [
        Judgment(d, s, who, "breakdown", "1.0", {"breakdown": "OTX"[n % 3]})
        for n, (d, s) in enumerate(units)
        for who in ("a", "b")
    ]
    votes = invented.votes_of(judgments)
    assert np.isfinite(
        shares(
            judged(make_annotator(method, SMALL.get(method), "breakdown").fit(documents, votes), documents)
        )
    ).all()
    one = invented.votes_of(judgments[:2])
    rows = shares(
        judged(make_annotator(method, SMALL.get(method), "breakdown").fit(documents, one), documents)
    )
    assert np.isfinite(rows).all()


def test_a_document_in_another_language_is_refused(name: str) -> None:
    documents, _ = invented.data("ja", 1)
    if METHODS.get(name).any_language:
        assert judged(fitted(name), documents)
        return
    with pytest.raises(UsageError, match=r"is in 'ja', and '.+' has learned en"):
        judged(fitted(name), documents)
    british = [msgspec.structs.replace(d, language="en-GB") for d in invented.data("en", 1)[0]]
    assert judged(fitted(name), british)


def test_it_goes_on_learning_or_says_that_it_cannot(name: str) -> None:
    documents, votes = invented.data("en", 6, seed=5)
    if not METHODS.get(name).adapts:
        with pytest.raises(UsageError, match="cannot go on"):
            fitted(name).adapt(documents, votes)
        return
    annotator = make_annotator(name, SMALL.get(name), "breakdown").fit(*invented.data("en", 6))
    before = annotator.origin_
    assert before is not None
    early = shares(judged(annotator, documents))
    annotator.adapt(documents, votes)
    assert not np.allclose(early, shares(judged(annotator, documents)))
    assert annotator.origin_ is not None
    assert annotator.origin_.before == before.digest


def damaged(path: Path, target: Path, **changes: Any) -> Path:
    """The same model with some members changed or left out (None)."""
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(target, "w") as out:
        for member in archive.namelist():
            content = changes.get(Path(member).stem, archive.read(member))
            if content is not None:
                out.writestr(member, content)
    return target


def test_a_damaged_file_is_an_error_of_ours(name: str, tmp_path: Path) -> None:
    path = tmp_path / "m.lapsus"
    fitted(name).save(path)
    content = path.read_bytes()
    (tmp_path / "short").write_bytes(content[: len(content) // 2])
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "text").write_text("not a model")
    files = [tmp_path / file for file in ("short", "empty", "text", "nowhere")]
    files.append(damaged(path, tmp_path / "no-data", learned=None))
    files.append(damaged(path, tmp_path / "no-words", learned=b"{}", arrays=None))
    files.append(damaged(path, tmp_path / "nonsense", learned=b"[1", arrays=b"1234567890"))
    for file in files:
        with pytest.raises(LapsusError) as caught:
            load_model(file)
        assert str(file) in str(caught.value), file


@pytest.mark.fuzz
def test_whatever_byte_is_flipped_there_is_no_traceback(name: str, tmp_path: Path) -> None:
    path = tmp_path / "m.lapsus"
    fitted(name).save(path)
    content = path.read_bytes()
    refused = 0
    for place in range(0, len(content), max(1, len(content) // 40)):
        flipped = bytearray(content)
        flipped[place] ^= 0xFF
        path.write_bytes(bytes(flipped))
        try:
            load_model(path)
        except LapsusError:
            refused += 1
    assert refused > 10
