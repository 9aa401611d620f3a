"""Random continua: what the marks would look like if their places had nothing to do with the text.

As in section 5.2 of the paper, each annotator of a random continuum is one of the real ones, drawn anew,
whose marks are all moved on by the same random shift, what falls off the end coming in at the beginning. The
shifts of one continuum keep half the mean length of a mark apart, where there is room, so that a copy of the
same annotator does not end up on itself.
"""

import numpy as np
from numpy.typing import NDArray

from lapsus.measures.agreement.gamma_candidates import Marks, ragged
from lapsus.measures.agreement.gamma_continuum import Continuum, Ints

_TRIES = 30


def shuffled(continuum: Continuum, samples: int, generator: np.random.Generator) -> Marks:
    """So many random continua, numbered from 0, of a continuum that has marks. None of them is empty."""
    order = np.argsort(continuum.annotator, kind="stable")
    marks = np.bincount(continuum.annotator, minlength=continuum.annotators)
    begin = np.cumsum(marks) - marks
    drawn = _drawn(marks, samples, generator).ravel()
    shift = _shifts(continuum, samples, generator).ravel()
    row, place = ragged(marks[drawn])
    mark = order[begin[drawn[row]] + place]
    start = (continuum.start[mark] + shift[row]) % continuum.length
    return Marks(
        row // continuum.annotators,
        row % continuum.annotators,
        start,
        start + continuum.end[mark] - continuum.start[mark],
        continuum.label[mark],
    )


def _drawn(marks: Ints, samples: int, generator: np.random.Generator) -> Ints:
    """For each place of each random continuum, which annotator stands in it."""
    drawn = generator.integers(0, len(marks), (samples, len(marks)))
    while len(empty := np.flatnonzero(marks[drawn].sum(axis=1) == 0)):
        drawn[empty] = generator.integers(0, len(marks), (len(empty), len(marks)))
    return drawn


def _shifts(continuum: Continuum, samples: int, generator: np.random.Generator) -> Ints:
    apart = float((continuum.end - continuum.start).mean()) / 2
    shifts = generator.integers(0, continuum.length, (samples, continuum.annotators))
    for place in range(1, continuum.annotators):
        for _ in range(_TRIES):
            close = _is_close(shifts[:, :place], shifts[:, place], continuum.length, apart)
            if not close.any():
                break
            shifts[close, place] = generator.integers(0, continuum.length, int(close.sum()))
    return shifts


def _is_close(others: Ints, shift: Ints, length: int, apart: float) -> NDArray[np.bool_]:
    distance = np.abs(others - shift[:, None])
    close: NDArray[np.bool_] = np.minimum(distance, length - distance).min(axis=1) < apart
    return close
