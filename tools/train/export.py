"""Step 4: the student as an ONNX graph on bytes, and how far that is from floats.

    python tools/train/export.py WORK

Reads WORK/student.safetensors and the tokenizer, writes WORK/encoder.onnx, and prints the differences on turns that no
stage of the training has used. They are kept, so that calibrate.py can tell what they do to the figures.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import brief
import numpy as np
import onnx
from english_data import CONFIG, ERRORS, STUDENT, Data, load_data, topical_pairs
from graph import Ranges, Weights, student_graph, watched_graph
from home_reader import MODEL
from numpy.typing import NDArray
from safetensors.numpy import load_file

from lapsus.annotators.byte_graphs import make_session
from lapsus.annotators.encoder.calibration import centred
from lapsus.annotators.encoder.chat_reader import TOKENIZER
from lapsus.annotators.encoder.reader import Passage, numbers_of
from lapsus.annotators.encoder.tokens import EnglishTokens

SAMPLE = brief.least(400, 40)
"""Turns that ranges are taken from, and turns that floats and bytes are compared on."""


def inputs(tokens: EnglishTokens, passage: Passage) -> dict[str, NDArray[Any]]:
    ids, segment = tokens.encode(passage)
    return {
        "ids": np.array([ids]),
        "segment": np.array([segment]),
        "features": np.array([numbers_of(passage)], dtype=np.float32),
    }


def find_ranges(weights: Weights, tokens: EnglishTokens, passages: Sequence[Passage]) -> Ranges:
    """How far the inputs of each wide layer go, column by column."""
    model, watched = watched_graph(weights)
    session = make_session(model.SerializeToString())
    names = [output.name for output in session.get_outputs()]
    most: dict[str, NDArray[np.float32]] = {}
    for passage in passages:
        found = dict(zip(names, session.run(None, inputs(tokens, passage)), strict=True))
        for layer, name in watched.items():
            reach = np.abs(found[name][0]).max(axis=0)
            most[layer] = np.maximum(most.get(layer, reach), reach)
    return most


def all_logits(content: bytes, tokens: EnglishTokens, passages: Sequence[Passage]) -> NDArray[np.float64]:
    session = make_session(content)
    rows = [session.run(["logits"], inputs(tokens, passage))[0][0] for passage in passages]
    return np.array(rows, dtype=np.float64)


def spread(items: Sequence[Any], count: int) -> Sequence[Any]:
    return items[:: max(1, len(items) // count)]


def unused(data: Data) -> list[Passage]:
    """Turns of Topical-Chat that were in no stage."""
    used = CONFIG["topical"]["pairs"]
    return [example.passage for example, _ in topical_pairs(data.topical, 2 * used)[used:]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("work", type=Path)
    work = parser.parse_args().work
    data = load_data(work)
    tokens = EnglishTokens((work / "student" / TOKENIZER).read_bytes())
    weights = {name: array.astype(np.float32) for name, array in load_file(work / STUDENT).items()}
    judged = [example.passage for example in spread([*data.dbdc3, *data.dbdc5], SAMPLE)]
    model = student_graph(weights, find_ranges(weights, tokens, judged))
    onnx.save(model, work / MODEL)
    passages = spread(unused(data), SAMPLE)
    small = all_logits((work / MODEL).read_bytes(), tokens, passages)
    exact = all_logits(watched_graph(weights)[0].SerializeToString(), tokens, passages)
    errors = centred(small) - centred(exact)
    np.save(work / ERRORS, errors)
    sys.stdout.write(
        f"{(work / MODEL).stat().st_size:,} bytes; on {len(passages):,} turns logits differ by"
        f" {np.abs(errors).mean():.4f} in the mean, {np.abs(errors).max():.3f} at most"
        f" (they spread by {centred(exact).std():.2f});"
        f" {(small.argmax(1) == exact.argmax(1)).mean():.1%} have the same likeliest label\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
