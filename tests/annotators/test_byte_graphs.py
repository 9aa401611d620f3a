"""Graphs on bytes come out right, also where a processor cuts off sums."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, load_from_string, numpy_helper

from lapsus.annotators import byte_graphs
from lapsus.annotators.byte_graphs import (
    content_field,
    exact_here,
    make_session,
    number_field,
    sums_are_exact,
    with_unsigned_weights,
)
from lapsus.annotators.model_files import SHIPPED, read_model

MULTIPLIERS = {"DynamicQuantizeMatMul", "MatMulInteger", "MatMulIntegerToFloat", "QAttention"}
GRAPHS = [
    (model.name, file)
    for model in sorted(SHIPPED.glob("*.lapsus"))
    for file in sorted(read_model(model)[1].files)
    if file.endswith(".onnx")
]
ROWS, INNER, COLUMNS = 5, 48, 6


@pytest.fixture
def untried() -> Iterator[None]:
    sums_are_exact.cache_clear()
    yield
    sums_are_exact.cache_clear()


class CuttingOff:
    """onnxruntime on a processor that adds products in pairs of sixteen bits."""

    SessionOptions = SimpleNamespace

    def __init__(self, rows_cut: int) -> None:
        self.rows_cut = rows_cut

    def InferenceSession(self, content: bytes, *_: Any, **__: Any) -> Any:
        (weights,) = (numpy_helper.to_array(one) for one in load_from_string(content).graph.initializer)

        def run(_: None, given: dict[str, NDArray[Any]]) -> list[NDArray[Any]]:
            (rows,) = given.values()
            products = rows.astype(np.int64)[:, :, None] * weights.astype(np.int64)[None]
            pairs = products.reshape(len(rows), -1, 2, weights.shape[1]).sum(axis=2)
            return [
                (pairs.clip(-(1 << 15), (1 << 15) - 1) if len(rows) == self.rows_cut else pairs).sum(axis=1)
            ]

        return SimpleNamespace(run=run)


@pytest.mark.parametrize(("rows_cut", "exact"), [(0, True), (1, False), (8, False)])
def test_whether_sums_are_exact_is_tried_out(
    monkeypatch: pytest.MonkeyPatch, untried: None, rows_cut: int, exact: bool
) -> None:
    monkeypatch.setattr(byte_graphs, "require", lambda *_: CuttingOff(rows_cut))
    assert sums_are_exact() is exact


def test_a_graph_is_changed_only_where_sums_are_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    content = multiplication(None).SerializeToString()
    monkeypatch.setattr(byte_graphs, "sums_are_exact", lambda: True)
    assert exact_here(content) is content
    monkeypatch.setattr(byte_graphs, "sums_are_exact", lambda: False)
    assert signed_weights(content)
    assert not signed_weights(exact_here(content))


@pytest.mark.parametrize(("model", "file"), GRAPHS)
def test_every_shipped_reader_says_the_same_with_unsigned_weights(model: str, file: str) -> None:
    content = read_model(SHIPPED / model)[1].files[file]
    unsigned = with_unsigned_weights(content)
    assert not signed_weights(unsigned)
    if not sums_are_exact():
        pytest.skip("there is nothing to compare with on this processor")
    some, others = make_session(content), make_session(unsigned)
    for tokens in (1, 3, 40):
        given = {one.name: made_up(one.name, tokens) for one in some.get_inputs()}
        for said, again in zip(some.run(None, given), others.run(None, given), strict=True):
            assert said.shape == again.shape
            # Of a pair without data, which no window is, the labeller of long data says nothing: not a number.
            assert np.allclose(said, again, rtol=0, atol=1e-6, equal_nan=tokens == 1)


def test_shipped_readers_are_on_bytes() -> None:
    # Else the test above would compare nothing.
    found = [pair for pair in GRAPHS if signed_weights(read_model(SHIPPED / pair[0])[1].files[pair[1]])]
    assert {model for model, _ in found} >= {
        "breakdown-en.lapsus",
        "breakdown-ja.lapsus",
        "semantic-errors-en.lapsus",
    }


@pytest.mark.parametrize("zero", [None, np.array(-3, np.int8), np.arange(-2, COLUMNS - 2, dtype=np.int8)])
@pytest.mark.parametrize("raw", [True, False])
def test_sums_are_whole_numbers_and_right(zero: NDArray[np.int8] | None, raw: bool) -> None:
    content = with_unsigned_weights(multiplication(zero, raw).SerializeToString())
    assert not signed_weights(content)
    rows = np.full((ROWS, INNER), 255, np.uint8)
    sums, kept = make_session(content).run(None, {"rows": rows})
    moved = weights().astype(np.int64) - (0 if zero is None else zero.astype(np.int64))
    assert (sums == rows.astype(np.int64) @ moved).all()
    # Another node needs the weights as they were.
    assert (kept == weights()).all()


def test_a_zero_that_is_found_on_the_way_stays() -> None:
    model = multiplication(np.array(0, np.int8))
    model.graph.node.insert(0, helper.make_node("Identity", ["zero"], ["found"]))
    model.graph.node[1].input[3] = "found"
    assert signed_weights(with_unsigned_weights(model.SerializeToString()))


def test_a_product_that_becomes_floats_at_once() -> None:
    step = numpy_helper.from_array(np.array(0.5, np.float32), "step")
    node = helper.make_node(
        "MatMulIntegerToFloat", ["rows", "weights", "step", "step"], ["sums"], domain="com.microsoft"
    )
    content = with_unsigned_weights(model_of([node], [tensor("weights", weights()), step], TensorProto.FLOAT))
    rows = np.full((ROWS, INNER), 255, np.uint8)
    assert not signed_weights(content)
    (sums,) = make_session(content).run(None, {"rows": rows})
    assert sums == pytest.approx(0.25 * (rows.astype(np.int64) @ weights()))


def test_outputs_that_were_put_after_a_graph_stay() -> None:
    content = multiplication(None).SerializeToString()
    step = helper.make_node("Cast", ["rows"], ["floats"], to=TensorProto.FLOAT)
    model = load_from_string(content)
    model.graph.node.append(step)
    floats = content_field(2, content_field(1, number_field(1, TensorProto.FLOAT)))
    output = content_field(7, content_field(12, content_field(1, b"floats") + floats))
    session = make_session(with_unsigned_weights(model.SerializeToString() + output))
    assert [one.name for one in session.get_outputs()] == ["sums", "kept", "floats"]


@pytest.mark.parametrize("content", [b"no graph", b"", b"\x3a\xff\xff\xff\x7f"])
def test_bytes_that_are_no_graph_are_told(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(byte_graphs, "sums_are_exact", lambda: False)
    with pytest.raises(ValueError, match="the encoder cannot be read"):
        make_session(content)


def weights() -> NDArray[np.int8]:
    """As large as they get, of both signs, so that every pair of products is too large for sixteen bits."""
    return np.where(np.arange(COLUMNS) % 2, 127, -127).astype(np.int8)[None].repeat(INNER, axis=0)


def tensor(name: str, value: NDArray[np.int8], raw: bool = True) -> TensorProto:
    if raw:
        return numpy_helper.from_array(value, name)
    return helper.make_tensor(name, TensorProto.INT8, value.shape, value.ravel().tolist())


def multiplication(zero: NDArray[np.int8] | None, raw: bool = True) -> ModelProto:
    names = ["rows", "weights"] if zero is None else ["rows", "weights", "", "zero"]
    nodes = [
        helper.make_node("MatMulInteger", names, ["sums"]),
        helper.make_node("Cast", ["weights"], ["kept"], to=TensorProto.FLOAT),
    ]
    tensors = [tensor("weights", weights(), raw)] + ([] if zero is None else [tensor("zero", zero, raw)])
    model = load_from_string(model_of(nodes, tensors, TensorProto.INT32))
    model.graph.output.append(helper.make_tensor_value_info("kept", TensorProto.FLOAT, [INNER, COLUMNS]))
    return model


def model_of(nodes: list[NodeProto], tensors: list[TensorProto], kind: int) -> bytes:
    given = helper.make_tensor_value_info("rows", TensorProto.UINT8, ["n", INNER])
    sums = helper.make_tensor_value_info("sums", kind, ["n", COLUMNS])
    graph = helper.make_graph(nodes, "small", [given], [sums], tensors)
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    content: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()
    return content


def signed_weights(content: bytes) -> list[str]:
    """Nodes that multiply by signed bytes."""
    graph = load_from_string(content).graph
    signed = {one.name for one in graph.initializer if one.data_type == TensorProto.INT8}
    return [node.op_type for node in graph.node if node.op_type in MULTIPLIERS and node.input[1] in signed]


def made_up(name: str, tokens: int) -> NDArray[Any]:
    rng = np.random.default_rng(tokens)
    if name == "ids":
        return rng.integers(5, 9_000, (1, tokens))
    if name == "segment":
        return np.arange(1, tokens + 1)[None] // tokens
    return rng.normal(size=(1, 15) if name == "features" else (1, tokens, 384)).astype(np.float32)
