"""The figures that the challenge's paper published: facts of other data, kept in `published.yaml`."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

import yaml

CLASSIFICATION: Final = (
    "accuracy", "precision_b", "recall_b", "f1_b", "precision_pb_b", "recall_pb_b", "f1_pb_b",
)  # fmt: skip
DISTRIBUTION: Final = ("jsd", "jsd_nb_vs_rest", "jsd_rest_vs_b", "mse", "mse_nb_vs_rest", "mse_rest_vs_b")
PUBLISHED_THRESHOLD: Final = 0.5
OF_PAPER: Final = "paper:"
"""Stands before the name of a team of the paper."""
PAPER_DATA: Final = (
    "paper: as published for the first challenge (80 Japanese dialogues of 2015, 30 annotators a turn, t = 0.5;"
    " systems trained on 1,146 others). Other data: to be looked at beside the runs, not ranked with them."
)


PAPER_CORPORA: Final = (
    "paper: as published for the first challenge's Japanese data; training data are init100 and rest1046."
)


class Described(NamedTuple):
    """A column of Table 1: one corpus."""

    dialogues: int
    turns: Mapping[str, int]
    words: Mapping[str, int]
    raters: str
    shares: tuple[float, float, float]
    kappa: float | None
    kappa_merged: float | None


class PublishedRun(NamedTuple):
    """A line of the paper's Tables 2 and 3."""

    team: str
    name: str
    values: Mapping[str, float]


@cache
def _figures() -> Mapping[str, Any]:
    text = (files("lapsus.challenge") / "published.yaml").read_text(encoding="utf-8")
    found: Mapping[str, Any] = yaml.safe_load(text)
    return found


def published_data() -> dict[str, Described]:
    """Every column of the paper's Table 1, by the name of the data."""
    return {
        row["name"]: Described(
            row["dialogues"],
            {"user": row["turns"][0], "system": row["turns"][1]},
            {"user": row["words"][0], "system": row["words"][1]},
            str(row["raters"]),
            tuple(share / 100 for share in row["shares"]),
            *row["kappas"],
        )
        for row in _figures()["data"]
    }


@cache
def published() -> tuple[PublishedRun, ...]:
    """Every line, in the paper's order."""
    return tuple(
        PublishedRun(
            row["team"],
            row["run"],
            dict(zip((*CLASSIFICATION, *DISTRIBUTION), row["labels"] + row["distributions"], strict=True)),
        )
        for row in _figures()["runs"]
    )
