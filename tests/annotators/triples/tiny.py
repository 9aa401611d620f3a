"""A labeller that can be foretold: what the other side does not say is left out or added, what came before repeated."""

from __future__ import annotations

import string
from typing import Any

import msgspec
import numpy as np
import pytest

from lapsus.annotators.cases import Origin
from lapsus.annotators.encoder.tokens import Subwords
from lapsus.annotators.triples import labeller
from lapsus.annotators.triples.labeller import Labeller
from lapsus.annotators.triples.marks import Cuts
from lapsus.annotators.triples.regression import Regression, feature_rows
from lapsus.annotators.triples.triples import Triples
from lapsus.model import Document, Segment

# fmt: off
WORDS = (
    "velmora", "hall", "architect", "ines", "tarro", "floor", "count", "penmarsh", "kirrin", "museum", "royal", "osk",
    "bridge", "opening", "date", "march", "september", "length", "six",
)
LITTLE = ("was", "designed", "by", "the", "has", "in", "is", "of", "and", "on", "opened", "an")
# fmt: on
"""What every text needs."""


def tokenizer() -> bytes:
    """Words of the tests, letters, digits and signs."""
    letters = [*string.ascii_lowercase, *string.digits]
    pieces = [
        "[UNK]",
        "[CLS]",
        "[SEP]",
        *WORDS,
        *LITTLE,
        *string.punctuation,
        *letters,
        *(f"##{one}" for one in letters),
    ]
    model = {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "vocab": {piece: id for id, piece in enumerate(dict.fromkeys(pieces))},
    }
    return msgspec.json.encode({"model": model, "pre_tokenizer": {"type": "BertPreTokenizer"}})


FINE = range(3 + len(WORDS), 3 + len(WORDS) + len(LITTLE) + len(string.punctuation))
"""The numbers of little words and signs."""


class Lower:
    """Rows that hold the numbers and the segments themselves."""

    def run(self, _: Any, given: dict[str, Any]) -> list[Any]:
        return [np.stack([given["ids"], given["segment"]], axis=-1).astype(np.float32)]


class Logits:
    """Always as sure of itself."""

    SURE = 3.0
    seen: int = 0

    def run(self, names: Any, given: dict[str, Any]) -> list[Any]:
        if names == ["short"]:
            return [np.full((1, 2), np.nan)]
        (rows,) = given["rows"].astype(int)
        type(self).seen = max(self.seen, len(rows))
        data = {int(id) for id, segment in rows if not segment}
        text = {int(id) for id, segment in rows if segment}
        before: set[int] = set()
        found = np.zeros((len(rows), 5))
        for row, (id, segment) in zip(found, rows.tolist(), strict=True):
            if not segment:
                row[1 if id not in text else 0] = self.SURE
            elif id in FINE or id < 3:
                row[2] = self.SURE
            else:
                row[3 if id not in data else 4 if id in before else 2] = self.SURE
                before.add(id)
        return [found[None]]


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Triples:
    """The judge around that labeller. It expects half an omission, a quarter of an addition, and repetitions."""
    subwords = Subwords(tokenizer())
    monkeypatch.setattr(labeller, "lower_of", lambda model: (subwords, Lower()))
    monkeypatch.setattr(labeller, "make_session", lambda graph: Logits())
    return made()


def made() -> Triples:
    judge = Triples()
    judge.labeller_ = Labeller(b"graph", "breakdown-en", b"long")
    judge.others_ = {}
    judge.cuts_ = judge.long_cuts_ = Cuts(0.5, 0.5, 0.5)
    width = feature_rows(judge.labeller_.read([([], [Segment("text", "text", "a")], "en")])).shape[1]
    # Everything is as far as can be from the one known pair, so that the numbers are the bias alone.
    judge.regression_ = Regression(
        np.full(width, 1e9), np.ones(width), np.full((1, width), 5.0), np.zeros((1, 2)), np.array([0.5, 0.25]),
        np.ones(1), np.ones(1),
    )  # fmt: skip
    judge.origin_ = Origin(judge.scheme.version, 1, 1, 1, "made", ("en",), {})
    return judge


def pair(text: str | None, *triples: str, id: str = "p", language: str = "en") -> Document:
    """A pair of data and text."""
    data = [Segment.triple(f"t{n}", *one.split(" | ")) for n, one in enumerate(triples, 1)]
    texts = [] if text is None else [Segment("text", "text", text)]
    return Document(id, (*data, *texts), language)
