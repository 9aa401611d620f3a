"""Precision, recall and F from counts: 0 where nothing was hit, undefined where there was nothing at all."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from lapsus.measures.bootstrap import Floats
from lapsus.measures.score import Score
from lapsus.notices import Notice

EMPTY_BOTH = Notice("nothing-find-nothing-found")


class PrecisionRecall(msgspec.Struct, frozen=True):
    """Precision, recall and their harmonic mean."""

    precision: Score
    recall: Score
    f1: Score


def ratio(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """`part / whole`, NaN where the whole is 0, without a warning."""
    part, whole = np.broadcast_arrays(part, whole)
    shares: Floats = np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole != 0)
    return shares


def precision_recall_f(hits: NDArray[Any], said: NDArray[Any], there: NDArray[Any]) -> Floats:
    """Precision, recall and F as a new last axis, of how many were right, were said, and were there.

    All three are 0 where nothing was right, and NaN where nothing was said and nothing was there.
    """
    return two_sided_precision_recall_f(hits, said, hits, there)


def two_sided_precision_recall_f(
    said_hits: NDArray[Any], said: NDArray[Any], there_hits: NDArray[Any], there: NDArray[Any]
) -> Floats:
    """The same where one thing said may hit several that are there, so that each side counts its own hits."""
    undefined = (said + there) == 0
    precision = np.nan_to_num(ratio(said_hits, said))
    recall = np.nan_to_num(ratio(there_hits, there))
    f = np.nan_to_num(ratio(2 * precision * recall, precision + recall))
    return np.where(undefined[..., None], np.nan, np.stack([precision, recall, f], axis=-1))
