"""The weights of shipped graphs as floats, by the names of BERT: where training goes on from."""

from __future__ import annotations

import numpy as np
import onnx
from graph import Weights
from numpy.typing import NDArray
from onnx import NodeProto, numpy_helper

Floats = NDArray[np.float32]
_DENSE = ("attention.output.dense", "intermediate.dense", "output.dense")
_NORMS = ("attention.output.LayerNorm", "output.LayerNorm")


def layer_weights(content: bytes, first: int) -> Weights:
    """Layers, and a head if there is one, of a graph on bytes that `graph.py` wrote; the lowest is number `first`."""
    model = onnx.load_from_string(content)
    constants = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    made_by = {output: node for node in model.graph.node for output in node.output}
    found: dict[str, Floats] = {}
    layer, dense, norms = first - 1, iter(_DENSE), iter(_NORMS)
    for node in model.graph.node:
        if node.op_type == "QAttention":
            layer, dense, norms = layer + 1, iter(_DENSE), iter(_NORMS)
            _, weights, bias, _, scale, *_ = (constants.get(name, np.zeros(0)) for name in node.input)
            parts = zip(np.hsplit(weights * scale, 3), np.split(bias, 3), strict=True)
            for name, (one, other) in zip(("query", "key", "value"), parts, strict=True):
                where = f"encoder.layer.{layer}.attention.self.{name}"
                found |= {f"{where}.weight": one.T, f"{where}.bias": other}
        elif node.op_type == "DynamicQuantizeMatMul":
            where = f"encoder.layer.{layer}.{next(dense)}"
            weights = constants[node.input[1]] * constants[node.input[2]]
            balance = _balance(made_by.get(node.input[0]), constants)
            found |= {f"{where}.weight": (weights * balance).T, f"{where}.bias": constants[node.input[4]]}
        elif node.op_type == "LayerNormalization" and layer >= first:
            where = f"encoder.layer.{layer}.{next(norms)}"
            found |= {f"{where}.weight": constants[node.input[1]], f"{where}.bias": constants[node.input[2]]}
        elif node.op_type in ("MatMul", "Add") and node.input[1] in constants:
            part = {"MatMul": "head.weight", "Add": "head.bias"}[node.op_type]
            found[part] = constants[node.input[1]].T
    return {name: np.ascontiguousarray(one, dtype=np.float32) for name, one in found.items()}


def embedding_weights(content: bytes) -> Weights:
    """What comes before the first layer."""
    model = onnx.load_from_string(content)
    constants = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    words = next(one for one in constants.values() if one.dtype == np.int8)
    tables = {one.shape: one for one in constants.values() if one.ndim == 2 and one.dtype == np.float32}
    steps = tables.pop((len(words), 1))
    (_, types), (_, places) = sorted((len(one), one) for one in tables.values())
    norm = next(node for node in model.graph.node if node.op_type == "LayerNormalization")
    return {
        "embeddings.word_embeddings.weight": words * steps,
        "embeddings.position_embeddings.weight": places,
        "embeddings.token_type_embeddings.weight": types,
        "embeddings.LayerNorm.weight": constants[norm.input[1]],
        "embeddings.LayerNorm.bias": constants[norm.input[2]],
    }


def _balance(node: NodeProto | None, constants: dict[str, NDArray[np.generic]]) -> Floats | float:
    """What each column of the inputs was multiplied by, as a column."""
    if node is None or node.op_type != "Mul":
        return 1.0
    return np.asarray(constants[node.input[1]], dtype=np.float32)[:, None]
