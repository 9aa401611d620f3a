"""Models as earlier versions kept them, made up: the readers that they name, in the shapes of that time.

No weights of those models are here: numbers that come again and again stand in their place.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from lapsus.annotators.encoder.calibration import first_weights
from lapsus.annotators.encoder.turn_features import NAMES
from lapsus.annotators.encoder.word_weights import SIZE
from lapsus.annotators.model_files import Header, State, write_model
from lapsus.annotators.training_examples import Origin

PIECES = [
    "<unk>", "<s>", "</s>", "▁", "。", "、", "?", "です", "か", "ね", "は", "が", "好き", "暑い", "今日",
    "映画", "何", "夏",
]  # fmt: skip
TURNS, UTTERANCES = 8, 12
"""Judged turns that are remembered, and what was said in them."""
ENCODER = {
    "across1": (512, 320), "across3": (320, 512), "dense0": (512, 320), "dense1": (320, 320), "dense2": (320, 512),
    "dense3": (512, 512), "first2": (512, 256), "first3": (768, 256), "first5": (1280, 256), "second2": (512, 256),
    "second3": (768, 256), "second5": (1280, 256), "pool": (1280, 512), "project": (512, 768),
}  # fmt: skip
BIASES = {
    "first2_bias": 256, "first3_bias": 256, "first5_bias": 256, "second2_bias": 256, "second3_bias": 256,
    "second5_bias": 256, "level_bias": 1280, "pool_bias": 512, "project_bias": 768, "start_bias": 768,
}  # fmt: skip
REPLIES = {"talk": 513, "users": 513, "all": 1025}
NETS = {"known": (357, 256), "turn": (512, 256), "pair": (1024, 256), "join": (1280, 256), "out": (256, 3)}


def made(*shape: int, kind: str = "float16") -> NDArray[Any]:
    """Small numbers that come again after a while."""
    places = np.arange(int(np.prod(shape))).reshape(shape)
    return (((places * 7) % 23 - 11) / 11 / np.sqrt(shape[0])).astype(kind)


def _japanese_arrays() -> dict[str, NDArray[Any]]:
    size, turns = len(PIECES), np.arange(TURNS * 3).reshape(TURNS, 3) % UTTERANCES
    found: dict[str, NDArray[Any]] = {
        "encoder.table": ((np.arange(size * 512) * 5) % 61).reshape(size, 512).astype(np.uint8),
        "encoder.table_step": np.full(size, 0.05, dtype=np.float32),
        "encoder.table_low": np.full(size, -1.5, dtype=np.float32),
        "encoder.level_gain": np.ones(1280, dtype=np.float16),
        "encoder.start_gain": np.ones(768, dtype=np.float16),
        "machine.answers": made(TURNS, 3, kind="float32"),
        "machine.foreign": made(TURNS, 6, kind="float32"),
        "machine.foreign_usual": np.full(6, 0.3, dtype=np.float32),
        "machine.number_middle": np.zeros(15, dtype=np.float32),
        "machine.number_spread": np.ones(15, dtype=np.float32),
        "machine.numbers": made(TURNS, 37),
        "machine.plain_middle": np.zeros(22, dtype=np.float32),
        "machine.plain_spread": np.ones(22, dtype=np.float32),
        "machine.turns": turns.astype(np.int16),
        "machine.usual": np.full(3, 1 / 3, dtype=np.float32),
        "machine.vector_step": np.full(UTTERANCES, 0.001, dtype=np.float32),
        "machine.vectors": ((np.arange(UTTERANCES * 512) * 11) % 97 - 48).reshape(-1, 512).astype(np.int8),
        "nets.middle": np.zeros(357, dtype=np.float32),
        "nets.spread": np.ones(357, dtype=np.float32),
        "trees.sizes": np.array([3, 1], dtype=np.int32),
        "trees.skip": np.array([2, 0, 0, 0], dtype=np.int16),
        "trees.column": np.array([0, 0, 0, 0], dtype=np.int16),
        "trees.bound": np.array([0.5, 0, 0, 0], dtype=np.float32),
        "trees.values": np.array([[0.7, 0.2, 0.1], [0.2, 0.3, 0.5], [0.4, 0.3, 0.3]], dtype=np.float16),
        "view": made(512, 40),
    }
    found |= {f"encoder.{name}": made(*shape) for name, shape in ENCODER.items()}
    found |= {f"encoder.{name}": np.zeros(size, dtype=np.float16) for name, size in BIASES.items()}
    for name, rows in REPLIES.items():
        found |= {
            f"machine.{name}.guess": made(rows, 512),
            f"machine.{name}.off": np.eye(512, dtype=np.float16),
            f"machine.{name}.spread": np.eye(512, dtype=np.float16),
            f"machine.{name}.usual": np.zeros(512, dtype=np.float16),
        }
    for name, (rows, columns) in NETS.items():
        found |= {
            f"nets.{name}.weight": made(1, rows, columns) / np.float16(16),
            f"nets.{name}.bias": made(1, columns),
        }
    return found


def _english_graph() -> bytes:
    """`ids`, `segment` and `features` to `logits`: the sum of the features weighed."""
    weights = numpy_helper.from_array(made(len(NAMES), 3, kind="float32"), "weights")
    kinds = {"ids": TensorProto.INT64, "segment": TensorProto.INT64, "features": TensorProto.FLOAT}
    inputs = [helper.make_tensor_value_info(name, kind, ["turns", "numbers"]) for name, kind in kinds.items()]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["turns", 3])
    node = helper.make_node("MatMul", ["features", "weights"], ["logits"])
    graph = helper.make_graph([node], "before", inputs, [output], [weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
    model.ir_version = 9
    return bytes(model.SerializeToString())


def write_before(language: str, path: Path, tokenizer: bytes = b"") -> None:
    """A model of the method `encoder` with the reader that it had before there was one for both languages."""
    arrays: dict[str, NDArray[Any]]
    data: dict[str, Any]
    files: dict[str, bytes]
    if language == "ja":
        scores = [-float(place) for place in range(len(PIECES))]
        name, files, arrays = "japanese", {}, _japanese_arrays()
        data = {"pieces": PIECES, "scores": scores, "replies": list(REPLIES)}
    else:
        words = {"words": made(SIZE, 3, kind="float16"), "usual": np.full(3, 1 / 3, dtype=np.float32)}
        name, data, arrays = "english", {}, words
        files = {"encoder.onnx": _english_graph(), "tokenizer.json": tokenizer}
    columns = 3 + 3 + len(NAMES) + 2 * len(NAMES) + (0 if language == "ja" else 3) + 1
    kept = {f"reader.{place}": array for place, array in arrays.items()}
    kept["profile.mine"] = first_weights(columns)
    learned = {"reader": name, "reader_data": data, "main": "mine", "rules": {"mine": "cuts(0.44,0.9)"}}
    origin = Origin("1.0", 3, 30, 90, "0" * 24, (language,), {})
    settings = {"profile": "", "held": 5.0, "decide": "profile"}
    header = Header("encoder", "mine", settings, "breakdown", ("O", "T", "X"), origin)
    write_model(path, header, State(learned, kept, files))
