"""The labeller as an ONNX graph with weights of eight bits: layers and heads on what the lower layers found."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from graph import MICROSOFT, Graph, Ranges, Weights, layer_of
from onnx import ModelProto, TensorProto, checker, helper
from semantic_ratings import SPREADS

WIDTH, LABELS, RATINGS = 384, 5, 2


def labeller_graph(weights: Weights, ranges: Ranges | None) -> tuple[ModelProto, dict[str, str]]:
    """From `rows` (pairs, tokens, 384) and `segment` (pairs, tokens) to `logits` (pairs, tokens, 5) and `short` (pairs,
    2), shortfalls from 0 to 1.

    Without ranges on floats, with one more output for each wide layer: its inputs. Says which is which.
    """
    graph = Graph(weights, ranges)
    rows = "rows"
    for layer in sorted({int(name.split(".")[2]) for name in weights if name.startswith("encoder.layer.")}):
        rows = layer_of(graph, rows, f"encoder.layer.{layer}")
    said = graph.add("MatMul", rows, graph.constant(weights["head.weight"].T))
    graph.add("Add", said, graph.constant(weights["head.bias"]), out="logits")
    _shortfalls(graph, rows)
    watched = list(dict.fromkeys(graph.watched.values())) if ranges is None else []
    return _model(graph, watched), graph.watched


def _shortfalls(graph: Graph, rows: str) -> None:
    """The first token and the means of text and data, through a small network."""
    axis, one = graph.constant(np.array([1])), graph.constant(np.array([1.0], dtype=np.float32))
    first = graph.add("Gather", rows, graph.constant(np.array([0])), axis=1)
    text = graph.add("Cast", "segment", to=TensorProto.FLOAT)
    means = [graph.add("Squeeze", first, axis)]
    for side in (text, graph.add("Sub", one, text)):
        share = graph.add("Div", side, graph.add("ReduceSum", side, axis, keepdims=1))
        means.append(
            graph.add("Squeeze", graph.add("MatMul", graph.add("Unsqueeze", share, axis), rows), axis)
        )
    hidden = graph.add("Gelu", graph.light(graph.add("Concat", *means, axis=1), "pooled"), approximate="tanh")
    spread = graph.constant(np.array([SPREADS], dtype=np.float32))
    graph.add("Div", graph.light(hidden, "short"), spread, out="short")


def _model(graph: Graph, watched: Sequence[str]) -> ModelProto:
    def wide(name: str, width: int | str) -> object:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["pairs", "tokens", width])

    segment = helper.make_tensor_value_info("segment", TensorProto.INT64, ["pairs", "tokens"])
    short = helper.make_tensor_value_info("short", TensorProto.FLOAT, ["pairs", RATINGS])
    outputs = [wide("logits", LABELS), short, *(wide(name, f"width-{name}") for name in watched)]
    body = helper.make_graph(
        graph.nodes, "semantic-errors", [wide("rows", WIDTH), segment], outputs, graph.constants
    )
    domains = [helper.make_opsetid("", 20), helper.make_opsetid(MICROSOFT, 1)]
    model = helper.make_model(body, opset_imports=domains, producer_name="lapsus")
    model.ir_version = 9
    checker.check_model(model)
    return model
