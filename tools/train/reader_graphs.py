"""Graphs of the shipped readers: a lower half that all views share, upper layers for each. Parts: `chat_graph.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from chat_graph import WIDTH, ChatGraph, finished, upper_graph
from graph import Ranges, Weights
from japanese_data import Judged
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from lapsus.annotators.byte_graphs import make_session
from lapsus.annotators.encoder.tokens import EnglishTokens, JapaneseTokens

Given = dict[str, NDArray[Any]]
SHARED = 3
"""Layers of English that all views and judges share."""
LAYERS = 6
WATCHED = 20
"""Every so many turns are read to see how far numbers go."""
POSITIONS = 256
_ENGLISH = {
    "o": "attention.output.dense",
    "n1": "attention.output.LayerNorm",
    "f": "intermediate.dense",
    "g": "output.dense",
    "n2": "output.LayerNorm",
}


def halves(content: bytes, positions: Path) -> tuple[bytes, bytes]:
    """The English graph cut after its third layer, its numbers untouched; `positions` are more places for tokens."""
    model = onnx.load_from_string(content)
    norms = [node for node in model.graph.node if node.op_type == "LayerNormalization"]
    cut = norms[2 * SHARED].output[0]
    places = np.load(positions).astype(np.float32)[:POSITIONS]
    for tensor in model.graph.initializer:
        known = numpy_helper.to_array(tensor)
        if known.shape == (128, WIDTH) and known.dtype == np.float32:
            tensor.CopyFrom(numpy_helper.from_array(np.vstack([known, places[len(known) :]]), tensor.name))
    rows = helper.make_tensor_value_info("rows", TensorProto.FLOAT, ["turns", "tokens", WIDTH])
    given = {value.name: value for value in model.graph.input}
    lower = _cut_out(model, [given["ids"], given["segment"]], [rows], {cut: "rows"})
    home = _cut_out(
        model, [rows, given["segment"], given["features"]], list(model.graph.output), {cut: "rows"}
    )
    return lower.SerializeToString(), home.SerializeToString()


def _cut_out(
    model: ModelProto, given: Sequence[Any], wanted: Sequence[Any], names: Mapping[str, str]
) -> ModelProto:
    """The part of a graph between some of its values, which get new names."""
    made = {output: node for node in model.graph.node for output in node.output}
    back = {new: old for old, new in names.items()}
    ends = {back.get(value.name, value.name) for value in given}
    needed, seen = [back.get(value.name, value.name) for value in wanted], set[str]()
    while needed:
        name = needed.pop()
        if name not in ends and name in made and name not in seen:
            seen.add(name)
            needed += made[name].input
    nodes = []
    for node in model.graph.node:
        if seen.intersection(node.output):
            copy = NodeProto()
            copy.CopyFrom(node)
            copy.input[:] = [names.get(name, name) for name in node.input]
            copy.output[:] = [names.get(name, name) for name in node.output]
            nodes.append(copy)
    used = {name for node in nodes for name in node.input}
    constants = [tensor for tensor in model.graph.initializer if tensor.name in used]
    graph = helper.make_graph(nodes, model.graph.name, list(given), list(wanted), constants)
    part = helper.make_model(graph, opset_imports=model.opset_import, producer_name="lapsus")
    part.ir_version = model.ir_version
    onnx.checker.check_model(part)
    return part


def english_layers(found: Mapping[str, NDArray[Any]]) -> Weights:
    """Weights by the names of `ChatGraph`, from those of BERT."""
    named: dict[str, NDArray[np.float32]] = {}
    for layer in range(SHARED, LAYERS):
        where = f"encoder.layer.{layer}"
        for part in ("weight", "bias"):
            three = [found[f"{where}.attention.self.{name}.{part}"] for name in ("query", "key", "value")]
            named[f"b.{layer}.qkv.{part}"] = np.concatenate(three).astype(np.float32)
            for short, name in _ENGLISH.items():
                named[f"b.{layer}.{short}.{part}"] = found[f"{where}.{name}.{part}"].astype(np.float32)
    heads = (name for name in found if not name.startswith("encoder."))
    return named | {name: found[name].astype(np.float32) for name in heads}


def english_general(
    found: Mapping[str, NDArray[Any]], lower: bytes, tokenizer: bytes, judged: Judged
) -> bytes:
    """Layers three to five and a small network: O, T and X in general, and what else was learned."""
    weights, tokens, session = english_layers(found), EnglishTokens(tokenizer), make_session(lower)
    numbers = len(found["out.bias"]) + len(found["emo.bias"])

    def head(graph: ChatGraph, pooled: str) -> str:
        hidden = graph.add("Gelu", graph.light(pooled, "hid"), approximate="tanh")
        return graph.add("Concat", graph.light(hidden, "out"), graph.light(pooled, "emo"), axis=1)

    given = []
    for passage in judged.passages[::WATCHED]:
        ids, segment = (np.array([row], dtype=np.int64) for row in tokens.encode(passage))
        (rows,) = session.run(None, {"ids": ids, "segment": segment})
        given.append({"rows": rows, "segment": segment})
    layers = range(SHARED, LAYERS)
    model, watched = upper_graph(weights, None, layers, "en", numbers, head)
    ranges, _ = reaches(model, watched, given)
    return upper_graph(weights, ranges, layers, "en", numbers, head)[0].SerializeToString()


def reaches(
    model: ModelProto, watched: Mapping[str, str], given: Sequence[Given]
) -> tuple[Ranges, list[NDArray[np.float32]]]:
    """How far the inputs of each wide layer go, column by column; and the graph's first output for each input."""
    session = make_session(model.SerializeToString())
    names = [output.name for output in session.get_outputs()]
    most: dict[str, NDArray[np.float32]] = {}
    found = []
    for inputs in given:
        said = inputs | dict(zip(names, session.run(None, inputs), strict=True))
        found.append(said[names[0]])
        for layer, name in watched.items():
            reach = np.abs(said[name][0]).max(axis=0)
            most[layer] = np.maximum(most.get(layer, reach), reach)
    return most, found


def japanese(weights: Weights, tokenizer: bytes, judged: Judged) -> tuple[bytes, bytes, bytes]:
    """All layers, and two small heads: at home, and in general with what kind of wrong reply it would be."""
    tokens = JapaneseTokens(tokenizer)
    given = []
    for passage in judged.passages[::WATCHED]:
        ids, segment = (np.array([row], dtype=np.int64) for row in tokens.encode(passage))
        given.append({"ids": ids, "segment": segment})
    model, watched = _whole(weights, None)
    exact = _whole(weights, reaches(model, watched, given)[0])[0].SerializeToString()
    lower = lighter(exact, len(weights["e.weight"]))
    return lower, _head(weights, 3, _home), _head(weights, 7, _general)


def lighter(content: bytes, words: int | None = None) -> bytes:
    """A graph whose weights have seven bits, and whose table of so many words has six: they pack an eighth smaller.

    Shares of votes move by .003 on average.
    """
    model = onnx.load_from_string(content)
    for tensor in model.graph.initializer:
        if tensor.data_type == TensorProto.INT8:
            known = numpy_helper.to_array(tensor)
            step = 4 if known.shape == (words, WIDTH) else 2
            most = 128 - step
            coarse = np.clip(np.rint(known.astype(np.float32) / step) * step, -most, most).astype(np.int8)
            tensor.CopyFrom(numpy_helper.from_array(coarse, tensor.name))
    return bytes(model.SerializeToString())


def _whole(weights: Weights, ranges: Ranges | None) -> tuple[ModelProto, dict[str, str]]:
    """`ids` and `segment` (turns, tokens) to `rows` (turns, tokens, 384), which are normalised."""
    words = {"enc.embeddings.word_embeddings.weight": weights["e.weight"]}
    graph = ChatGraph({**weights, **words}, ranges, "ja")
    zero, one, two = (graph.constant(np.array([number])) for number in range(3))
    length = graph.add("Slice", graph.add("Shape", "ids"), one, two)
    place = graph.add("Slice", graph.constant(weights["p.weight"]), zero, length)
    segment = graph.add("Gather", graph.constant(weights["t.weight"]), "segment")
    rows = graph.add("Add", graph.add("Add", graph.words(), segment), place)
    for layer in range(LAYERS):
        rows = graph.layer(rows, f"b.{layer}")
    graph.add("Identity", graph.normal(rows, "n"), out="rows")
    return finished(graph, {"ids": TensorProto.INT64}, ["turns", "tokens", WIDTH], "rows"), graph.watched


def _head(weights: Weights, numbers: int, head: Any) -> bytes:
    graph = ChatGraph(weights, {}, "ja")
    graph.add("Identity", head(graph, graph.add("Concat", *graph.means("rows"), axis=1)), out="said")
    return finished(graph, {"rows": TensorProto.FLOAT}, ["turns", numbers], "said").SerializeToString()


def _home(graph: ChatGraph, pooled: str) -> str:
    return graph.add("LogSoftmax", graph.light(pooled, "y"), axis=1)


def _general(graph: ChatGraph, pooled: str) -> str:
    parts = (graph.add("LogSoftmax", graph.light(pooled, name), axis=1) for name in ("gen", "nup"))
    return graph.add("Concat", *parts, axis=1)
