"""Units, right answers and models to try things with."""

from __future__ import annotations

import threading
from typing import Any

from lapsus.annotators.language_model import LanguageModel, Sampling, Service, endpoint
from lapsus.model import Answer, Document, Scheme, Segment, Span, Unit, units
from lapsus.schemes import load_scheme
from tests.annotators.language_model.stub import Stub

TEXTS = {
    "en": ("Hello there.", "I lost my keys 🔑.", "Great, keys are fun!", "Later words."),
    "ja": ("こんにちは。", "鍵をなくしました🔑。", "それは楽しみですね。", "後の言葉です。"),
}
ROLES = ("system", "user", "system", "user")


def chat(language: str = "en", id: str = "c1") -> Document:
    segments = tuple(
        Segment(str(place), role, text)  # type: ignore[arg-type]
        for place, (role, text) in enumerate(zip(ROLES, TEXTS[language], strict=True))
    )
    return Document(id, segments, language, {"system": "Secret system"})


def pair(language: str = "en", id: str = "p1") -> Document:
    if language == "ja":
        triple, text = Segment.triple("t1", "霧見湖", "水深", "48"), "霧見湖は、霧見湖は深いです。"
    else:
        triple, text = (
            Segment.triple("t1", "Ida_Vale", "birthPlace", "Orsk"),
            "Ida Vale, a poet, a poet, was born.",
        )
    return Document(id, (triple, Segment("text", "text", text)), language)


def document(scheme: str, language: str) -> Document:
    if scheme == "preference":
        first, second, reply, _ = chat(language).segments
        replies = (Segment(id, "system", said.text) for id, said in (("A", first), ("B", reply)))
        return Document("c1", (first, second, *replies), language)
    return pair(language) if scheme == "semantic-errors" else chat(language)


SCALES = ("soundness", "conciseness", "completeness", "relevance", "clarity", "brevity", "coherence")


def right(scheme: str, language: str) -> tuple[dict[str, Any], dict[str, Answer]]:
    """An answer as a model gives it, and the answers that it stands for."""
    if scheme == "breakdown":
        return {"breakdown": "X", "comment": None}, {"breakdown": "X"}
    if scheme == "error-types":
        types = ["ignore-expectation", "repetition"]
        return {"types": types, "own-view": None, "remark": "hm"}, {"types": tuple(types), "remark": "hm"}
    if scheme == "preference":
        said = {"better": "A", "fits": "both", "goes-on": None, "comment": None}
        return said, {"better": "A|AB", "fits": "both|AB"}
    if scheme == "response-quality":
        levels = dict.fromkeys(SCALES, 4)
        labels = {"dialogue-act": "Y", "emotion": "N", "communicative-goal": "P"}
        unsaid = dict.fromkeys(("shown-acts", "fitting-acts", "shown-emotions"))
        said = {**levels, **labels, **unsaid, "fitting-emotions": ["joy"]}
        return said, {**levels, **labels, "fitting-emotions": ("joy",)}
    marks = {
        "en": [("omission", "t1", "Orsk", 1, "a", 24, 28), ("addition", "text", "a poet,", 2, "a", 18, 25)],
        "ja": [("omission", "t1", "48", 1, "a", 11, 13), ("addition", "text", "霧見湖は", 2, "a", 5, 9)],
    }[language]
    said = [
        dict(zip(("label", "segment", "quote", "occurrence", "tie"), mark, strict=False)) for mark in marks
    ]
    spans = tuple(Span(where, start, end, label, tie) for label, where, _, _, tie, start, end in marks)
    return {"errors": said, "remark": ""}, {"errors": spans}


def unit_of(document: Document, scheme: Scheme, place: int = -1) -> Unit:
    return list(units(document, scheme.unit))[place]


def model_on(stub: Stub, scheme: str = "breakdown", **more: Any) -> LanguageModel:
    key, timeout = more.pop("key", None), more.pop("timeout", 60.0)
    where = endpoint(stub.endpoint)
    service = Service(where, key, timeout=timeout, first_wait=0.01, stop=more.pop("stop", threading.Event()))
    sampling = Sampling(more.pop("samples", 1), more.pop("temperature", None), more.pop("seed", None))
    return LanguageModel("tiny", service, load_scheme(scheme), sampling=sampling, **more)
