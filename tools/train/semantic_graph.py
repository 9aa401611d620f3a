"""The labeller as an ONNX graph with weights of eight bits: layers and a head on what the lower layers found."""

from __future__ import annotations

from collections.abc import Sequence

from graph import MICROSOFT, Graph, Ranges, Weights, layer_of
from onnx import ModelProto, TensorProto, checker, helper

WIDTH, LABELS = 384, 5


def labeller_graph(weights: Weights, ranges: Ranges | None) -> tuple[ModelProto, dict[str, str]]:
    """From `rows` (pairs, tokens, 384) to `logits` (pairs, tokens, 5).

    Without ranges on floats, with one more output for each wide layer: its inputs. Says which is which.
    """
    graph = Graph(weights, ranges)
    rows = "rows"
    for layer in sorted({int(name.split(".")[2]) for name in weights if name.startswith("encoder.layer.")}):
        rows = layer_of(graph, rows, f"encoder.layer.{layer}")
    said = graph.add("MatMul", rows, graph.constant(weights["head.weight"].T))
    graph.add("Add", said, graph.constant(weights["head.bias"]), out="logits")
    watched = list(dict.fromkeys(graph.watched.values())) if ranges is None else []
    return _model(graph, watched), graph.watched


def _model(graph: Graph, watched: Sequence[str]) -> ModelProto:
    def wide(name: str, width: int | str) -> object:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["pairs", "tokens", width])

    outputs = [wide("logits", LABELS), *(wide(name, f"width-{name}") for name in watched)]
    body = helper.make_graph(graph.nodes, "semantic-errors", [wide("rows", WIDTH)], outputs, graph.constants)
    domains = [helper.make_opsetid("", 20), helper.make_opsetid(MICROSOFT, 1)]
    model = helper.make_model(body, opset_imports=domains, producer_name="lapsus")
    model.ir_version = 9
    checker.check_model(model)
    return model
