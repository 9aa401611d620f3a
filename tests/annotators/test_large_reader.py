"""The large English reader: its layout, its files, and how its word joins the small reader's."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from lapsus.annotators.encoder import encoder as encoder_module
from lapsus.annotators.encoder.encoder import Encoder
from lapsus.annotators.encoder.large_reader import (
    MANIFEST,
    NAMES,
    PARTS,
    TOKENIZER,
    LargeReader,
)
from lapsus.annotators.encoder.reader import Passage, TurnWords
from lapsus.annotators.encoder.tokens import LargeTokens
from lapsus.annotators.library import default_model, load_model
from lapsus.errors import UsageError
from lapsus.model import Document, Segment

SHIPPED = Path(__file__).parents[2] / "distributions/lapsus-large/src/lapsus_large"
GARDEN = (
    TurnWords(False, "I grow tomatoes on my balcony."),
    TurnWords(True, "Nice! Do they get enough sun?"),
    TurnWords(False, "All afternoon. Do you think I should water them every day?"),
)
GOOD = Passage(GARDEN, "In the summer, yes, once a day is good.")
BAD = Passage(GARDEN, "The train to Leeds leaves from platform nine.")
TALK = Document(
    "d",
    (
        Segment("1", "user", "Do you like films?"),
        Segment("2", "system", "Yes, I like films about the sea."),
        Segment("3", "user", "Which one should I watch?"),
        Segment("4", "system", "Potatoes are grown in rows."),
    ),
    language="en",
)


def graph(
    nodes: list[Any], given: dict[str, list[Any]], found: dict[str, list[Any]], *constants: Any
) -> bytes:
    kinds = {"ids": TensorProto.INT64, "segment": TensorProto.INT64}
    inputs = [
        helper.make_tensor_value_info(name, kinds.get(name, TensorProto.FLOAT), shape)
        for name, shape in given.items()
    ]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in found.items()]
    body = helper.make_graph(nodes, "tiny", inputs, outputs, list(constants))
    model = helper.make_model(body, opset_imports=[helper.make_opsetid("", 20)])
    model.ir_version = 9
    return bytes(model.SerializeToString())


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A package whose network says the number of tokens, 22 times; it trusts itself alone where it is asked."""
    rows, bias, turns = ["n", "t", 1], [1, 1, 1, 1], ["n", "t"]
    one = numpy_helper.from_array(np.ones((1, 1, 1, 1), np.float32), "one")
    axes = numpy_helper.from_array(np.array([2]), "axes")
    first = graph(
        [
            helper.make_node("Cast", ["ids"], ["floats"], to=TensorProto.FLOAT),
            helper.make_node("Mul", ["floats", "zero"], ["nothing"]),
            helper.make_node("Unsqueeze", ["nothing", "axes"], ["rows"]),
            helper.make_node("Identity", ["one"], ["bias"]),
        ],
        {"ids": turns},
        {"rows": rows, "bias": bias},
        one,
        axes,
        numpy_helper.from_array(np.zeros(1, np.float32), "zero"),
    )
    middle = graph(
        [helper.make_node("Add", ["rows", "bias1"], ["found"])],
        {"rows": rows, "bias": bias},
        {"found": rows},
        numpy_helper.from_array(np.ones((1, 1, 1), np.float32), "bias1"),
    )
    last = graph(
        [
            helper.make_node("ReduceSum", ["rows", "axis"], ["sums"], keepdims=0),
            helper.make_node("Mul", ["sums", "many"], ["said"]),
        ],
        {"rows": rows, "bias": bias, "segment": turns},
        {"said": ["n", len(NAMES)]},
        numpy_helper.from_array(np.array([1]), "axis"),
        numpy_helper.from_array(np.ones((1, len(NAMES)), np.float32), "many"),
    )
    files = dict(zip(PARTS, (first, middle, middle, last), strict=True))
    files[TOKENIZER] = (SHIPPED / TOKENIZER).read_bytes()
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    weights = np.zeros((len(NAMES) - 2, 3))
    weights[-1, 2] = 9.0
    manifest = {
        "sha256": {name: hashlib.sha256(content).hexdigest() for name, content in files.items()},
        "doubt": {"": 0.4},
        "weights": {"": weights.tolist()},
    }
    (tmp_path / MANIFEST).write_text(json.dumps(manifest))
    return tmp_path


@pytest.fixture
def installed(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> LargeReader:
    reader = LargeReader(tiny)
    monkeypatch.setattr(encoder_module, "is_installed", lambda: True)
    monkeypatch.setattr(encoder_module, "large_reader", lambda: reader)
    return reader


def shares(model: Any) -> list[list[float]]:
    return [list(one.distributions["breakdown"].values()) for one in model.judge([TALK])]


def test_the_layout_is_the_one_it_was_trained_with() -> None:
    tokens = LargeTokens((SHIPPED / TOKENIZER).read_bytes())
    ids, own = tokens.encode(Passage(GARDEN[:1], "Yes."))
    end = 2
    assert (ids[0], ids[-1]) == (0, end)
    assert [place for place, id in enumerate(ids) if id == end][-3:] == [
        len(ids) - 5,
        len(ids) - 4,
        len(ids) - 1,
    ]
    assert own == [0] * (len(ids) - 3) + [1] * 3
    long, own = tokens.encode(Passage(GARDEN * 9, "word " * 300))
    assert len(long) <= LargeTokens.TOKENS
    assert sum(own) == LargeTokens.OF_TARGET + 1


def test_each_turn_is_read_alone_and_once(installed: LargeReader) -> None:
    said = installed.said([GOOD, BAD, GOOD])
    tokens = LargeTokens((SHIPPED / TOKENIZER).read_bytes())
    assert said[:, 0].tolist() == [2.0 * len(tokens.encode(one)[0]) for one in (GOOD, BAD, GOOD)]
    assert installed.said([]).shape == (0, len(NAMES))


def test_it_is_asked_about_what_the_small_reader_doubts(installed: LargeReader) -> None:
    model = load_model(default_model("en"))
    small, both, large = (shares(model.read_by(name)) for name in ("small", "", "large"))
    assert both[0] == small[0]  # a fitting answer stays as it was
    assert both[1] == large[1] != small[1]
    assert large[0] != small[0]
    assert large[1][2] > 0.99


def test_of_a_dialogue_that_is_bad_all_through_it_reads_what_stands_out(tiny: Path) -> None:
    reader = LargeReader(tiny)
    shares = np.array([[0.4, 0.2, 0.4], [0.1, 0.2, 0.7], [0.9, 0.05, 0.05]] * 3)
    before = np.repeat([[0.0, 0.0, 0.0], [2.0, -1.0, -1.0], [-1.0, 0.0, 1.0]], 3, axis=0)
    assert reader.doubts(shares, before, "general").tolist() == [0, 1, 3, 4]


def test_models_that_judge_differently_have_digests_of_their_own(installed: LargeReader) -> None:
    model = load_model(default_model("en"))
    assert len({model.read_by(name).digest for name in ("small", "", "large")}) == 3


def test_a_reader_that_is_not_there_or_not_for_the_language(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"not installed.*lapsus-eval\[large\]"):
        load_model(default_model("en")).read_by("large")
    with pytest.raises(UsageError, match="reads English"):
        load_model(default_model("ja")).read_by("large")
    with pytest.raises(UsageError, match="a reader is small or large"):
        Encoder(reader="huge")


@pytest.mark.parametrize("name", [*PARTS, TOKENIZER])
def test_a_changed_file_is_refused(tiny: Path, name: str) -> None:
    content = (tiny / name).read_bytes()
    (tiny / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(UsageError, match="is not the file that belongs"):
        LargeReader(tiny).said([GOOD])


def test_the_shipped_weights_are_whole_and_tell_right_from_wrong() -> None:
    reader = LargeReader(SHIPPED)
    said = reader.said([GOOD, BAD])
    assert said[0, NAMES.index("fits")] > said[1, NAMES.index("fits")]
    assert said[0, NAMES.index("coherent")] > said[1, NAMES.index("coherent")]
    small = np.array([[0.6, 0.2, 0.2]] * 2)
    risks = [row[2] + row[1] / 2 for row in reader.shares([GOOD, BAD], small, "general")]
    assert risks[0] < 0.4 < risks[1]
    assert all((SHIPPED / name).stat().st_size < 30_000_000 for name in PARTS)
