"""The student as an ONNX graph with weights of eight bits, written node by node.

Converters give a graph three times as long, half of which undoes the other half. This one is what the processor has
to do: dense layers on bytes, with a scale a column and the range of the inputs found as they come; all else on floats.
Where the layers are wide, some columns of the inputs reach ten times as far as others: before they become bytes, each
is divided by the square root of its range, and the weights are multiplied by it, which halves the error.
Sums are followed by a plain LayerNormalization, since the fused form of onnxruntime 1.31 takes five times as long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, checker, helper, numpy_helper

Weights = Mapping[str, NDArray[np.float32]]
Ranges = Mapping[str, NDArray[np.float32]]
"""For each wide layer, how far from zero each column of its inputs goes."""

FEATURES, LABELS = 15, 3
HEADS, LAYERS, LONGEST = 12, 6, 128
MICROSOFT = "com.microsoft"
TOP = 127
EPSILON, LEAST = 1e-12, 1e-3


class Graph:
    """Nodes and constants, in order."""

    def __init__(self, weights: Weights, ranges: Ranges | None) -> None:
        self.weights = weights
        self.ranges = ranges
        self.watched: dict[str, str] = {}
        """The inputs of each wide layer."""
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []

    def constant(self, value: NDArray[Any]) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add(self, kind: str, *inputs: str, domain: str = "", out: str = "", **settings: Any) -> str:
        return self.add_several(kind, inputs, 1, domain, out, **settings)[0]

    def add_several(
        self, kind: str, inputs: Sequence[str], count: int, domain: str = "", out: str = "", **settings: Any
    ) -> list[str]:
        outputs = [out or f"n{len(self.nodes)}.{place}" for place in range(count)]
        self.nodes.append(helper.make_node(kind, list(inputs), outputs, domain=domain, **settings))
        return outputs

    def normal(self, rows: str, name: str) -> str:
        gain, bias = (self.constant(self.weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self.add("LayerNormalization", rows, gain, bias, axis=-1, epsilon=EPSILON)

    def dense(self, rows: str, name: str) -> str:
        """A large layer, on bytes."""
        weights, bias = self.weights[f"{name}.weight"].T, self.constant(self.weights[f"{name}.bias"])
        if self.ranges is None:
            return self.add("Add", self.add("MatMul", rows, self.constant(weights)), bias)
        if name in self.ranges:
            rows, weights = self.balanced(rows, weights, self.ranges[name])
        whole, scale = by_column(weights)
        inputs = (rows, self.constant(whole), self.constant(scale), "", bias)
        return self.add("DynamicQuantizeMatMul", *inputs, domain=MICROSOFT)

    def wide(self, rows: str, name: str) -> str:
        """A large layer whose inputs are watched, and balanced."""
        self.watched[name] = rows
        return self.dense(rows, name)

    def balanced(
        self, rows: str, weights: NDArray[np.float32], reach: NDArray[np.float32]
    ) -> tuple[str, NDArray[np.float32]]:
        """Inputs that go about equally far, and weights that make up for it."""
        root = np.sqrt(np.maximum(reach, LEAST)).astype(np.float32)
        return self.add("Mul", rows, self.constant(1 / root)), weights * root[:, None]

    def light(self, rows: str, name: str) -> str:
        """A layer of the head, on floats."""
        parts = (self.constant(self.weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self.add("Gemm", rows, *parts, transB=1)

    def attention(self, rows: str, name: str) -> str:
        parts = [f"{name}.{part}" for part in ("query", "key", "value")]
        weights = np.hstack([self.weights[f"{part}.weight"].T for part in parts])
        bias = self.constant(np.hstack([self.weights[f"{part}.bias"] for part in parts]))
        if self.ranges is None:
            inputs = (rows, self.constant(weights), bias)
            return self.add("Attention", *inputs, domain=MICROSOFT, num_heads=HEADS)
        whole, scale = by_column(weights)
        taken, step, zero = self.add_several("DynamicQuantizeLinear", [rows], 3)
        inputs = (taken, self.constant(whole), bias, step, self.constant(scale), "", zero)
        return self.add("QAttention", *inputs, domain=MICROSOFT, num_heads=HEADS)

    def words(self) -> str:
        """Embeddings of the tokens: bytes with a scale a word."""
        table = self.weights["enc.embeddings.word_embeddings.weight"]
        if self.ranges is None:
            return self.add("Gather", self.constant(table), "ids")
        whole, scale = by_column(table.T)
        found = self.add("Cast", self.add("Gather", self.constant(whole.T), "ids"), to=TensorProto.FLOAT)
        return self.add("Mul", found, self.add("Gather", self.constant(scale[:, None]), "ids"))


def by_column(weights: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Weights as bytes, and what a step is worth in each column."""
    scale = np.abs(weights).max(axis=0) / TOP
    scale[scale == 0] = 1
    return np.rint(weights / scale).astype(np.int8), scale.astype(np.float32)


def student_graph(weights: Weights, ranges: Ranges) -> ModelProto:
    """The graph: `ids` and `segment` (turns, tokens) and `features` (turns, 15) to `logits` (turns, 3).

    There is no mask: turns that are read together must have the same length. They are best read alone, since the range
    of the inputs is found over all that is read together.
    """
    return _model(_graph(weights, ranges), [])


def watched_graph(weights: Weights) -> tuple[ModelProto, dict[str, str]]:
    """The same on floats, with one more output for each wide layer: its inputs. Says which is which."""
    graph = _graph(weights, None)
    return _model(graph, list(dict.fromkeys(graph.watched.values()))), graph.watched


def _graph(weights: Weights, ranges: Ranges | None) -> Graph:
    graph = Graph(weights, ranges)
    rows = _embeddings(graph)
    for layer in range(LAYERS):
        rows = layer_of(graph, rows, f"enc.encoder.layer.{layer}")
    _head(graph, rows)
    return graph


def _model(graph: Graph, watched: Sequence[str]) -> ModelProto:
    inputs = [
        helper.make_tensor_value_info("ids", TensorProto.INT64, ["turns", "tokens"]),
        helper.make_tensor_value_info("segment", TensorProto.INT64, ["turns", "tokens"]),
        helper.make_tensor_value_info("features", TensorProto.FLOAT, ["turns", FEATURES]),
    ]
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["turns", LABELS])]
    outputs += [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["turns", "tokens", f"width-{name}"])
        for name in watched
    ]
    body = helper.make_graph(graph.nodes, "breakdown-en", inputs, outputs, graph.constants)
    domains = [helper.make_opsetid("", 20), helper.make_opsetid(MICROSOFT, 1)]
    model = helper.make_model(body, opset_imports=domains, producer_name="lapsus")
    model.ir_version = 9
    checker.check_model(model)
    return model


def _embeddings(graph: Graph) -> str:
    positions = graph.weights["enc.embeddings.position_embeddings.weight"][:LONGEST]
    types = graph.constant(graph.weights["enc.embeddings.token_type_embeddings.weight"])
    zero, one, two = (graph.constant(np.array([number])) for number in range(3))
    length = graph.add("Slice", graph.add("Shape", "ids"), one, two)
    place = graph.add("Slice", graph.constant(positions), zero, length)
    typed = graph.add("Add", graph.words(), graph.add("Gather", types, "segment"))
    return graph.normal(graph.add("Add", typed, place), "enc.embeddings.LayerNorm")


def layer_of(graph: Graph, rows: str, name: str) -> str:
    looked = graph.dense(graph.attention(rows, f"{name}.attention.self"), f"{name}.attention.output.dense")
    rows = graph.normal(graph.add("Add", looked, rows), f"{name}.attention.output.LayerNorm")
    wide = graph.add("Gelu", graph.wide(rows, f"{name}.intermediate.dense"), approximate="tanh")
    thought = graph.wide(wide, f"{name}.output.dense")
    return graph.normal(graph.add("Add", thought, rows), f"{name}.output.LayerNorm")


def _head(graph: Graph, rows: str) -> None:
    """The mean of all tokens, that of the turn's own, and the features, through a small network."""
    axis = graph.constant(np.array([1]))
    whole = graph.add("ReduceMean", rows, axis, keepdims=0)
    own = graph.add("Cast", "segment", to=TensorProto.FLOAT)
    share = graph.add("Div", own, graph.add("ReduceSum", own, axis, keepdims=1))
    part = graph.add("Squeeze", graph.add("MatMul", graph.add("Unsqueeze", share, axis), rows), axis)
    plain = graph.light(graph.add("Gelu", graph.light("features", "f.0")), "f.2")
    hidden = graph.light(graph.add("Concat", whole, part, plain, axis=1), "head.0")
    parts = (graph.constant(graph.weights[f"head.3.{name}"]) for name in ("weight", "bias"))
    graph.add("Gemm", graph.add("Gelu", hidden), *parts, transB=1, out="logits")
