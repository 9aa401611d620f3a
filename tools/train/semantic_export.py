"""Semantic errors, step 2: the labeller of long data as an ONNX graph on bytes, and how far that is from floats.

    python tools/train/semantic_export.py WORK

Reads WORK/semantic.safetensors, writes WORK/long.onnx, and prints the differences on damaged texts.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path

import brief
import numpy as np
from graph import Ranges, Weights
from numpy.typing import NDArray
from reader_graphs import lighter
from safetensors.numpy import load_file
from semantic_data import Damage, load_pairs
from semantic_graph import labeller_graph
from semantic_records import load_marked, stretches

from lapsus.annotators.byte_graphs import make_session
from lapsus.annotators.features.network_layers import softmax
from lapsus.annotators.triples.labeller import LONG_GRAPH, lower_of
from lapsus.annotators.triples.pair import Pairs, Window

WEIGHTS = "semantic.safetensors"
LOWER = "breakdown-en"
SAMPLE, EVERY = brief.least(400, 20), 50
"""Windows that ranges are taken from; the others, and those of every so many records, are compared on."""


Given = dict[str, NDArray[np.generic]]


def given_for(windows: Sequence[Window]) -> list[Given]:
    """What the labeller is given for some windows."""
    _, lower = lower_of(LOWER)
    found = []
    for one in windows:
        ids, segment = np.array([one.ids]), np.array([one.segment])
        found.append({"rows": lower.run(None, {"ids": ids, "segment": segment})[0], "segment": segment})
    return found


def find_ranges(weights: Weights, given: Sequence[Given]) -> Ranges:
    """How far the inputs of each wide layer go, column by column."""
    model, watched = labeller_graph(weights, None)
    session = make_session(model.SerializeToString())
    names = [output.name for output in session.get_outputs()]
    most: dict[str, NDArray[np.float32]] = {}
    for one in given:
        found = dict(zip(names, session.run(None, one), strict=True))
        for layer, name in watched.items():
            reach = np.abs(found[name][0]).max(axis=0)
            most[layer] = np.maximum(most.get(layer, reach), reach)
    return most


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("work", type=Path)
    work = parser.parse_args().work
    weights = {name: array.astype(np.float32) for name, array in load_file(work / WEIGHTS).items()}
    damage, rng = Damage(load_pairs("test")), random.Random(0)
    subwords, _ = lower_of(LOWER)
    pairs = Pairs(subwords)
    windows = []
    for n in range(2 * SAMPLE):
        *data, text = damage.make(rng).document(str(n)).segments
        windows += list(pairs.windows(pairs.pair(data, [text], "en")))
    windows += [
        window
        for one in load_marked()[::EVERY]
        for stretch in stretches(one, pairs, subwords)
        for window in stretch.windows
    ]
    given = given_for(random.Random(1).sample(windows, len(windows)))
    model, _ = labeller_graph(weights, find_ranges(weights, given[:SAMPLE]))
    (work / LONG_GRAPH).write_bytes(lighter(model.SerializeToString()))
    sessions = [make_session(one.SerializeToString()) for one in (model, labeller_graph(weights, None)[0])]
    errors = []
    for one in given[SAMPLE:]:
        small, exact = (session.run(["logits"], one)[0][0].astype(np.float64) for session in sessions)
        errors += [
            np.abs(softmax(small[:, part]) - softmax(exact[:, part])).max(1)
            for part in (slice(0, 2), slice(2, 5))
        ]
    found = np.concatenate(errors)
    sys.stdout.write(
        f"{(work / LONG_GRAPH).stat().st_size:,} bytes; shares differ by {found.mean():.4f} in the mean,"
        f" {np.quantile(found, 0.99):.3f} in one of a hundred tokens\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
