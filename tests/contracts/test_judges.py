"""What everybody who judges breakdown must do: language models, and detectors in what `test_annotators` leaves out."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

import msgspec
import pytest

from lapsus.model import Document, Judgment, Segment
from lapsus.schemes import broken_rules, load_scheme
from tests.annotators import invented
from tests.annotators.language_model.helpers import model_on
from tests.annotators.language_model.stub import Said, completion, serving
from tests.contracts.test_annotators import HOSTILE, LANGUAGES, dialogue, fitted

Judge: TypeAlias = Callable[[Iterable[Document]], Iterator[Judgment]]
MODEL = "openai:tiny"


def by_what_it_is_told(body: dict[str, Any]) -> Said:
    """Another answer for every other message, so that whatever a model gets to see shows in what it says."""
    told = hashlib.sha256(body["messages"][1]["content"].encode()).hexdigest()
    return completion({"breakdown": "OTX"[int(told, 16) % 3], "comment": told})


@pytest.fixture
def model() -> Iterator[Judge]:
    with serving(by_what_it_is_told) as stub:
        yield model_on(stub, parallel=1).judge


@pytest.fixture(params=[*invented.FOR_TURNS, MODEL])
def judge(request: pytest.FixtureRequest) -> Judge:
    """Somebody who judges English documents."""
    if request.param == MODEL:
        found: Judge = request.getfixturevalue("model")
        return found
    return fitted(request.param).judge


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_system_turn_is_judged_once_in_order_and_by_the_rules(model: Judge, language: str) -> None:
    documents, _ = invented.data(language, 4, seed=1)
    judgments = list(model(documents))
    turns = [(d.id, s.id) for d in documents for s in d.segments if s.role == "system"]
    assert [(j.document, j.segment) for j in judgments] == turns
    assert len({j.annotator for j in judgments}) == 1
    scheme = load_scheme("breakdown")
    assert {(j.scheme, j.version, j.revision) for j in judgments} == {("breakdown", scheme.version, 1)}
    assert not any(broken_rules(scheme, j.answers) for j in judgments)


@pytest.mark.parametrize("language", LANGUAGES)
def test_later_turns_and_other_documents_change_no_answer(model: Judge, language: str) -> None:
    documents, _ = invented.data(language, 3, seed=2)
    whole = {j.unit: j.answers for j in model(documents)}
    for keep in (1, 3, 5, 8):
        cut = [msgspec.structs.replace(d, segments=d.segments[:keep]) for d in reversed(documents)]
        for judgment in model(cut):
            assert judgment.answers == whole[judgment.unit]


def test_documents_are_taken_as_judgments_are_asked_for(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lapsus.annotators.base.BATCH", 4)
    taken: list[int] = []

    def documents() -> Iterator[Document]:
        for number in range(50):
            taken.append(number)
            yield dialogue(["Hello.", "Hi.", "How are you?"], id=str(number))

    next(judge(documents()))
    assert len(taken) < 5


def test_nothing_in_nothing_out(judge: Judge) -> None:
    assert list(judge([])) == []
    documents = [Document("empty", ()), dialogue(["Hello."], id="one")]
    assert [judgment.document for judgment in judge(documents)] == ["one"]
    assert list(judge([Document("user", (Segment("0", "user", "Hello?"),), "en")])) == []


@pytest.mark.parametrize("language", [*LANGUAGES, None])
def test_hostile_texts_are_judged(model: Judge, language: str | None) -> None:
    texts = [text for text in HOSTILE for _ in range(2)]
    documents = [dialogue(texts, language), dialogue(texts[::-1], language, "e")]
    odd = (Segment("a", "passage", "[music]"), Segment("b", "system", "Hi."), Segment("c", "system", "Hi."))
    documents.append(Document("odd", odd, language))
    judgments = list(model(documents))
    assert len(judgments) == 2 * len(HOSTILE) + 2
    assert {judgment.answers["breakdown"] for judgment in judgments} <= set("OTX")
