"""Made-up documents and judgments for property tests: hostile texts, every kind of answer."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from lapsus.model import Document, Entry, Judgment, Segment, Span
from lapsus.schemes import load_scheme
from lapsus.schemes.library import Spelling


def examples(few: int) -> int:
    """How many examples of what is dear to try: five times as many in `make fuzz`, which draws them anew."""
    return few * (5 if settings.get_current_profile_name() == "drawn" else 1)


HOSTILE = [
    "",
    "=1+1",
    "-3",
    "'=x",
    "a\nb",
    "tab\there",
    "👩‍👩‍👧‍👦 family",
    "e\u0301te\u0301",
    "<script>",
    '"quoted"',
    "が",
    "\u202e",
    "NULL",
    "a,b;c",
]

texts = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=30),
)
words = st.one_of(
    st.sampled_from([text for text in HOSTILE if text.strip()]),
    st.text(st.characters(categories=("L", "N", "So", "P")), min_size=1, max_size=20),
)
ids = st.one_of(
    st.text(st.characters(categories=("L", "N")), min_size=1, max_size=8),
    st.sampled_from(["a/b", "..", "C:", "100%", "x y", "日本", "con.", "😀"]),
)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**31), 2**31)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(ids, inner, max_size=2),
    max_leaves=3,
)
metadata = st.dictionaries(
    st.one_of(ids, st.sampled_from(["system", "split", "time", "speaker-id"])), json_values, max_size=2
)
languages = st.sampled_from(["en", "ja", None])
moments = st.datetimes(datetime(2000, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC))
shares = st.sampled_from([{"O": 0.5, "T": 0.25, "X": 0.25}, {"O": 1.0, "T": 0.0, "X": 0.0}])


@st.composite
def dialogues(draw: st.DrawFn, roles: tuple[str, ...] = ("system", "user"), plain: bool = False) -> Document:
    names = draw(st.lists(st.one_of(st.integers(0, 30).map(str), ids), min_size=1, max_size=4, unique=True))
    segments = tuple(
        Segment(name, draw(st.sampled_from(roles)), draw(texts), None, {} if plain else draw(metadata))
        for name in names
    )
    return Document(draw(ids), segments, draw(languages), {} if plain else draw(metadata))


@st.composite
def pairs(draw: st.DrawFn) -> Document:
    triples = tuple(
        Segment.triple(f"t{place}", draw(words), draw(words), draw(words))
        for place in range(draw(st.integers(1, 3)))
    )
    return Document(
        draw(ids), (*triples, Segment("text", "text", draw(words))), draw(languages), draw(metadata)
    )


@st.composite
def circumstances(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "revision": draw(st.integers(1, 3)),
        "at": draw(st.none() | moments),
        "seconds": draw(st.none() | st.floats(0, 1e6)),
        "metadata": draw(metadata),
    }


def _spans(draw: st.DrawFn, document: Document) -> tuple[Span, ...]:
    spans = []
    for segment in document.segments:
        label = "omission" if segment.role == "triple" else draw(st.sampled_from(["addition", "repetition"]))
        if segment.text and draw(st.booleans()):
            start = draw(st.integers(0, len(segment.text) - 1))
            end = draw(st.integers(start + 1, len(segment.text)))
            spans.append(Span(segment.id, start, end, label, draw(st.sampled_from([None, "a"]))))
    return tuple(spans)


def _answers(draw: st.DrawFn, scheme: str, document: Document) -> dict[str, Any]:
    if scheme == "breakdown":
        answers: dict[str, Any] = {"breakdown": draw(st.sampled_from("OTX"))}
        return answers | ({"comment": draw(texts)} if draw(st.booleans()) else {})
    if scheme == "error-types":
        labels = [label.id for label in load_scheme(scheme).questions[0].labels]
        return {"types": tuple(draw(st.lists(st.sampled_from(labels), max_size=3, unique=True)))}
    if scheme == "response-quality":
        return {"soundness": draw(st.integers(1, 5)), "emotion": draw(st.sampled_from("YNP"))}
    return {"errors": _spans(draw, document)} | ({"remark": draw(texts)} if draw(st.booleans()) else {})


@st.composite
def judged(draw: st.DrawFn, documents: st.SearchStrategy[Document], schemes: tuple[str, ...]) -> Entry:
    document = draw(documents)
    judgments = {}
    for _ in range(draw(st.integers(0, 4))):
        scheme = draw(st.sampled_from(schemes))
        segment = (
            None if scheme == "semantic-errors" else draw(st.sampled_from([s.id for s in document.segments]))
        )
        judgment = Judgment(
            document.id,
            segment,
            draw(ids),
            scheme,
            draw(st.sampled_from([load_scheme(scheme).version, "0.9"])),
            _answers(draw, scheme, document),
            distributions={"breakdown": draw(shares)}
            if scheme == "breakdown" and draw(st.booleans())
            else {},
            **draw(circumstances()),
        )
        judgments[judgment.segment, judgment.annotator, judgment.scheme, judgment.revision] = judgment
    return Entry(document.id, document, tuple(judgments.values()))


def without_documents(entries: st.SearchStrategy[Entry]) -> st.SearchStrategy[Entry]:
    return entries.filter(lambda entry: bool(entry.judgments)).map(
        lambda entry: Entry(entry.id, None, entry.judgments)
    )


dialogue_entries = judged(dialogues(), ("breakdown", "error-types", "response-quality"))
breakdown_entries = judged(dialogues(), ("breakdown",))
# In the one form of an answer: what can be written in two ways is read in one.
pair_entries = judged(pairs(), ("semantic-errors",)).map(Spelling().by_ids)
later_schemes_entries = st.one_of(dialogue_entries, pair_entries)
bare_dialogues = dialogues().map(lambda document: Entry(document.id, document))
mixed_entries = st.one_of(
    dialogue_entries, pair_entries, bare_dialogues, without_documents(breakdown_entries)
)
