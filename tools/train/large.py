"""The large English reader as graphs on bytes: the data of the distribution `lapsus-large`.

    python tools/train/large.py WEIGHTS FOLDER SAID

WEIGHTS is a folder with `teacher.npz` (matrices as bytes with a scale a row: `NAME|q`, `NAME|s`) and `tokenizer.json`;
FOLDER that of the package `lapsus_large`. SAID holds what the network said of turns that people voted on or wrote
(`rows.json.gz`, `said.npz`): its calibrations are fitted to it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from graph import Graph, Ranges, Weights
from large_calibration import calibrated
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, checker, helper
from reader_graphs import reaches

from lapsus.annotators.encoder.large_reader import MANIFEST, NUMBERS, PARTS, TOKENIZER
from lapsus.annotators.encoder.reader import Passage, TurnWords
from lapsus.annotators.encoder.tokens import LargeTokens

EPSILON = 1e-5
BUCKETS, FARTHEST = 32, 128
SAMPLE: Sequence[Sequence[str]] = (
    ("Hi! How was your weekend?", "I went hiking with my sister.", "Nice! Where did you go?"),
    ("Can you help me with my order?", "Of course. Which order is it?", "Number 4711.", "The moon is made of rock."),
    ("I feel sad today.", "I'm sorry to hear that. Do you want to talk about it?"),
    ("What is the capital of France?", "Paris. It lies on the Seine, and about two million people live there."),
    ("Do you like music?", "Yes, I listen to jazz.", "Who is your favourite musician?", "Do you like music?"),
)  # fmt: skip
"""Talk that is read to see how far numbers go."""


def read_weights(path: Path) -> Weights:
    """The network's weights as floats."""
    found, weights = np.load(path), {}
    for name in found.files:
        if name.endswith("|q"):
            weights[name[:-2]] = (found[name] * found[f"{name[:-2]}|s"]).astype(np.float32)
        elif not name.endswith("|s"):
            weights[name] = found[name].astype(np.float32)
    for layer in range(layers_of(weights)):
        where = f"b.encoder.layer.{layer}.attention.attn"
        for part in ("weight", "bias"):
            weights[f"{where}.qkv.{part}"] = np.concatenate(
                [weights[f"{where}.{one}.{part}"] for one in "qkv"]
            )
    words = weights.pop("b.embeddings.word_embeddings.weight")
    return weights | {"enc.embeddings.word_embeddings.weight": words}


def layers_of(weights: Mapping[str, Any]) -> int:
    """How many layers there are."""
    return sum(name.endswith("attention.attn.o.bias") for name in weights)


def position_bias(table: NDArray[np.float32], size: int) -> NDArray[np.float32]:
    """What attention adds for how far two tokens are apart, (heads, size, size): exact near by, coarser farther off."""
    place = np.arange(size)
    away = place[:, None] - place[None, :]
    half = BUCKETS // 2
    near, apart = half // 2, np.abs(away)
    far = near + (np.log(np.maximum(apart, 1) / near) / math.log(FARTHEST / near) * (half - near)).astype(
        np.int64
    )
    bucket = np.where(apart < near, apart, np.minimum(far, half - 1)) + half * (away < 0)
    return np.ascontiguousarray(table[bucket].transpose(2, 0, 1))


class LargeGraph(Graph):
    """Layers that normalise what comes out, with a bias by distance."""

    def __init__(self, weights: Weights, ranges: Ranges | None) -> None:
        super().__init__(weights, ranges)
        self.width = weights["enc.embeddings.word_embeddings.weight"].shape[1]
        self.heads = weights["b.encoder.relative_attention_bias.weight"].shape[1]
        self.of_a_part = layers_of(weights) // (len(PARTS) - 1)

    def normal(self, rows: str, name: str) -> str:
        gain, bias = (self.constant(self.weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self.add("LayerNormalization", rows, gain, bias, axis=-1, epsilon=EPSILON)

    def split(self, rows: str, order: Sequence[int]) -> str:
        shape = self.constant(np.array([0, 0, self.heads, self.width // self.heads]))
        return self.add("Transpose", self.add("Reshape", rows, shape), perm=list(order))

    def layer(self, rows: str, number: int) -> str:
        """One layer."""
        name = f"b.encoder.layer.{number}"
        sizes = self.constant(np.array([self.width] * 3))
        given = self.wide(rows, f"{name}.attention.attn.qkv")
        query, key, value = self.add_several("Split", [given, sizes], 3, axis=-1)
        scale = self.constant(np.array((self.width // self.heads) ** -0.5, dtype=np.float32))
        query = self.add("Mul", self.split(query, (0, 2, 1, 3)), scale)
        looked = self.add("Add", self.add("MatMul", query, self.split(key, (0, 2, 3, 1))), "bias")
        found = self.add("MatMul", self.add("Softmax", looked, axis=-1), self.split(value, (0, 2, 1, 3)))
        joined = self.add("Transpose", found, perm=[0, 2, 1, 3])
        joined = self.add("Reshape", joined, self.constant(np.array([0, 0, self.width])))
        rows = self.add("Add", self.wide(joined, f"{name}.attention.attn.o"), rows)
        rows = self.normal(rows, f"{name}.attention.LayerNorm")
        wide = self.add("Gelu", self.wide(rows, f"{name}.intermediate.dense"))
        rows = self.add("Add", self.wide(wide, f"{name}.output.dense"), rows)
        return self.normal(rows, f"{name}.output.LayerNorm")

    def said(self, rows: str) -> None:
        """The numbers, from the mean over all tokens and that over the turn's own."""
        axis = self.constant(np.array([1]))
        own = self.add("Cast", "segment", to=TensorProto.FLOAT)
        share = self.add("Div", own, self.add("ReduceSum", own, axis, keepdims=1))
        part = self.add("Squeeze", self.add("MatMul", self.add("Unsqueeze", share, axis), rows), axis)
        pooled = self.add("Concat", self.add("ReduceMean", rows, axis, keepdims=0), part, axis=1)
        # Halves keep the file small; they are made floats when the graph is opened.
        halves = (self.constant(self.weights[f"h.{part}"].astype(np.float16)) for part in ("weight", "bias"))
        parts = (self.add("Cast", half, to=TensorProto.FLOAT) for half in halves)
        hidden = self.add("Gelu", self.add("Gemm", pooled, *parts, transB=1))
        self.add("Identity", self.light(hidden, "o"), out="said")


def embeddings(weights: Weights, ranges: Ranges | None) -> ModelProto:
    """`ids` to `rows` and `bias`."""
    graph = LargeGraph(weights, ranges)
    zero, one, two = (graph.constant(np.array([number])) for number in range(3))
    length = graph.add("Slice", graph.add("Shape", "ids"), one, two)
    size = LargeTokens.TOKENS
    places = weights["b.embeddings.position_embeddings.weight"][2 : 2 + size]
    place = graph.add("Slice", graph.constant(places), zero, length)
    rows = graph.normal(graph.add("Add", graph.words(), place), "b.embeddings.LayerNorm")
    graph.add("Identity", rows, out="rows")
    whole = graph.constant(position_bias(weights["b.encoder.relative_attention_bias.weight"], size))
    ends = graph.add("Concat", length, length, axis=0)
    cut = graph.add("Slice", whole, graph.constant(np.array([0, 0])), ends, graph.constant(np.array([1, 2])))
    graph.add("Unsqueeze", cut, zero, out="bias")
    return model_of(graph, {"ids": ["turns", "tokens"]}, {"rows": _ROWS, "bias": _BIAS})


def layers(weights: Weights, ranges: Ranges | None, part: int) -> tuple[ModelProto, dict[str, str]]:
    """`rows` and `bias` to `rows` a third of the layers on; after the last of them, with `segment`, to `said`."""
    graph = LargeGraph(weights, ranges)
    rows = "rows"
    for number in range(part * graph.of_a_part, (part + 1) * graph.of_a_part):
        rows = graph.layer(rows, number)
    given: dict[str, list[Any]] = {"rows": _ROWS, "bias": _BIAS}
    if part + 2 < len(PARTS):
        graph.add("Identity", rows, out="found")
        return model_of(graph, given, {"found": _ROWS}), graph.watched
    graph.said(rows)
    return model_of(
        graph, {**given, "segment": ["turns", "tokens"]}, {"said": ["turns", NUMBERS]}
    ), graph.watched


_ROWS: list[Any] = ["turns", "tokens", "width"]
_BIAS: list[Any] = [1, "heads", "tokens", "tokens"]


def model_of(graph: LargeGraph, given: Mapping[str, list[Any]], found: Mapping[str, list[Any]]) -> ModelProto:
    """The graph as a model; on floats with one more output for the inputs of each large layer."""
    kind = {"ids": TensorProto.INT64, "segment": TensorProto.INT64}
    inputs = [
        helper.make_tensor_value_info(name, kind.get(name, TensorProto.FLOAT), shape)
        for name, shape in given.items()
    ]
    watched = dict.fromkeys(graph.watched.values()) if graph.ranges is None else {}
    shapes = {
        **found,
        **{name: ["turns", "tokens", f"width-{name}"] for name in watched if name not in given},
    }
    outputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()
    ]
    body = helper.make_graph(graph.nodes, "lapsus-large", inputs, outputs, graph.constants)
    domains = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(body, opset_imports=domains, producer_name="lapsus")
    model.ir_version = 9
    checker.check_model(model)
    return model


def graphs(weights: Weights, tokens: LargeTokens) -> list[bytes]:
    """The parts in order: embeddings, then three times a third of the layers, on bytes."""
    first = embeddings(weights, {}).SerializeToString()
    parts, given = [first], list(_first_inputs(first, tokens))
    for part in range(len(PARTS) - 1):
        model, watched = layers(weights, None, part)
        content = model.SerializeToString()
        inputs = [{**one, "segment": segment} if b"segment" in content else one for one, segment in given]
        ranges, found = reaches(model, watched, inputs)
        parts.append(layers(weights, ranges, part)[0].SerializeToString())
        given = [({**one, "rows": rows}, segment) for (one, segment), rows in zip(given, found, strict=True)]
        sys.stdout.write(f"part {part}: {len(parts[-1]):,} bytes\n")
    return parts


def _first_inputs(content: bytes, tokens: LargeTokens) -> list[tuple[dict[str, NDArray[Any]], NDArray[Any]]]:
    from lapsus.annotators.byte_graphs import make_session

    session, found = make_session(content), []
    for texts in SAMPLE:
        turns = tuple(TurnWords(n % 2 == 1, text) for n, text in enumerate(texts))
        ids, segment = (np.array([row]) for row in tokens.encode(Passage(turns[:-1], turns[-1].text)))
        rows, bias = session.run(["rows", "bias"], {"ids": ids})
        found.append(({"rows": rows, "bias": bias}, segment))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("weights", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("said", type=Path)
    asked = parser.parse_args()
    tokenizer = (asked.weights / "tokenizer.json").read_bytes()
    parts = graphs(read_weights(asked.weights / "teacher.npz"), LargeTokens(tokenizer))
    files = {TOKENIZER: tokenizer, **dict(zip(PARTS, parts, strict=True))}
    asked.folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (asked.folder / name).write_bytes(content)
    manifest = {
        "sha256": {name: hashlib.sha256(content).hexdigest() for name, content in files.items()},
        **calibrated(asked.said),
    }
    (asked.folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
