"""Graphs of ONNX for layers of both languages on bytes, and what stands on them.

The parts are those of `graph.py`. The Japanese layers normalise what goes into them, the English ones what comes out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from graph import MICROSOFT, Graph, Ranges, Weights, by_column
from onnx import ModelProto, TensorProto, checker, helper

WIDTH = 384
HEADS = {"en": 12, "ja": 6}
INTEGERS = TensorProto.INT64
EPSILON = {"en": 1e-12, "ja": 1e-5}


Watched: TypeAlias = tuple[ModelProto, dict[str, str]]
"""A graph, and where the inputs of each wide layer are found in it."""


class ChatGraph(Graph):
    """A graph of layers named `b.N.{qkv,o,f,g}` with norms `n1` and `n2`."""

    def __init__(self, weights: Weights, ranges: Ranges | None, language: str) -> None:
        super().__init__(weights, ranges)
        self.language = language

    def normal(self, rows: str, name: str) -> str:
        gain, bias = (self.constant(self.weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self.add("LayerNormalization", rows, gain, bias, axis=-1, epsilon=EPSILON[self.language])

    def looked(self, rows: str, name: str) -> str:
        """What attention gathers, from one layer for queries, keys and values."""
        weights, bias = self.weights[f"{name}.weight"].T, self.constant(self.weights[f"{name}.bias"])
        heads = {"domain": MICROSOFT, "num_heads": HEADS[self.language]}
        if self.ranges is None:
            return self.add("Attention", rows, self.constant(weights), bias, **heads)
        whole, scale = by_column(weights)
        taken, step, zero = self.add_several("DynamicQuantizeLinear", [rows], 3)
        inputs = (taken, self.constant(whole), bias, step, self.constant(scale), "", zero)
        return self.add("QAttention", *inputs, **heads)

    def layer(self, rows: str, name: str) -> str:
        """One layer of the language's kind."""
        before = self.language == "ja"
        given = self.normal(rows, f"{name}.n1") if before else rows
        rows = self.add("Add", self.dense(self.looked(given, f"{name}.qkv"), f"{name}.o"), rows)
        rows = rows if before else self.normal(rows, f"{name}.n1")
        given = self.normal(rows, f"{name}.n2") if before else rows
        wide = self.add("Gelu", self.wide(given, f"{name}.f"), approximate="tanh")
        rows = self.add("Add", self.wide(wide, f"{name}.g"), rows)
        return rows if before else self.normal(rows, f"{name}.n2")

    def means(self, rows: str) -> tuple[str, str]:
        """The mean over all tokens, or in Japanese the first token; and the mean over the turn's own."""
        axis = self.constant(np.array([1]))
        own = self.add("Cast", "segment", to=TensorProto.FLOAT)
        share = self.add("Div", own, self.add("ReduceSum", own, axis, keepdims=1))
        part = self.add("Squeeze", self.add("MatMul", self.add("Unsqueeze", share, axis), rows), axis)
        if self.language == "ja":
            first = self.add("Gather", rows, self.constant(np.array([0])), axis=1)
            return self.add("Squeeze", first, axis), part
        return self.add("ReduceMean", rows, axis, keepdims=0), part


Head: TypeAlias = Callable[[ChatGraph, str], str]
"""From the means to what is said."""


def upper_graph(
    weights: Weights,
    ranges: Ranges | None,
    layers: Sequence[int],
    language: str,
    numbers: int,
    head: Head,
) -> Watched:
    """`rows` (turns, tokens, 384) and `segment` to `said` (turns, numbers). `head` ends the graph."""
    graph = ChatGraph(weights, ranges, language)
    rows = "rows"
    for layer in layers:
        rows = graph.layer(rows, f"b.{layer}")
    if language == "ja":
        rows = graph.normal(rows, "n")
    graph.add("Identity", head(graph, graph.add("Concat", *graph.means(rows), axis=1)), out="said")
    return finished(graph, {"rows": TensorProto.FLOAT}, ["turns", numbers], "said"), graph.watched


def finished(graph: ChatGraph, given: Mapping[str, int], shape: Sequence[str | int], out: str) -> ModelProto:
    """The graph with its inputs; on floats with one more output for each wide layer, its inputs."""
    kinds = {**given, "segment": INTEGERS}
    inputs = [
        helper.make_tensor_value_info(
            name, kind, ["turns", "tokens"] if kind == INTEGERS else ["turns", "tokens", WIDTH]
        )
        for name, kind in kinds.items()
    ]
    outputs = [helper.make_tensor_value_info(out, TensorProto.FLOAT, list(shape))]
    for name in dict.fromkeys(graph.watched.values()) if graph.ranges is None else ():
        wide = ["turns", "tokens", f"width-{name}"]
        outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, wide))
    body = helper.make_graph(graph.nodes, "breakdown", inputs, outputs, graph.constants)
    domains = [helper.make_opsetid("", 20), helper.make_opsetid(MICROSOFT, 1)]
    model = helper.make_model(body, opset_imports=domains, producer_name="lapsus")
    model.ir_version = 9
    checker.check_model(model)
    return model
