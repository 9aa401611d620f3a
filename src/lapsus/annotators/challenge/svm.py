"""Support vector machines on word frequencies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.base import Progress
from lapsus.annotators.breakdown import BreakdownAnnotator
from lapsus.annotators.cases import Example, folds, shares
from lapsus.annotators.challenge.network import UNKNOWN, Vocabulary
from lapsus.annotators.features.cues import last_said, target
from lapsus.annotators.features.network_layers import softmax
from lapsus.annotators.library import need_above_zero, need_at_least
from lapsus.annotators.model_files import State
from lapsus.annotators.optional_libraries import require
from lapsus.errors import UsageError
from lapsus.model import Unit

_FOLDS = 3
_SCALE = 1 / 3
"""Two sides of unit length and the constant make 3: a turn is like itself by 1, whatever the degree."""
Matrix = NDArray[np.float64]
_STEPS, _CLOSE = 50, 1e-8


class Machines(NamedTuple):
    """A machine a label: which examples hold up its border, by how much, and where the border is."""

    supports: Sparse
    duals: NDArray[np.float64]
    borders: NDArray[np.float64]


@dataclass(kw_only=True, eq=False)
class Svm(BreakdownAnnotator):
    """A machine a label, with a polynomial kernel over the words of the turn and of the user's one before."""

    method = "svm"
    title = "support vector machines on word frequencies, polynomial kernels of degree 1 to 3"

    degree: int = 2
    c: float = 0.5
    vocabulary: int = 10_000
    at_least: int = 2
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.degree <= 3:
            raise UsageError("kernels-degree-1-2", degree=self.degree)
        need_above_zero(c=self.c)
        need_at_least(1, vocabulary=self.vocabulary, at_least=self.at_least)
        need_at_least(0, seed=self.seed)

    def _fit(self, examples: Sequence[Example], progress: Progress) -> None:
        units = [example.unit for example in examples]
        terms = [[term for side in self._sides(unit) for term in side] for unit in units]
        self.terms_ = Vocabulary.of(terms, most=self.vocabulary, at_least=self.at_least)
        rows, wanted = self._rows(units), shares(examples)
        fold = folds(examples, _FOLDS, self.seed)
        values = np.zeros((len(units), 3))
        for place in range(_FOLDS):
            outside, inside = np.flatnonzero(fold != place), np.flatnonzero(fold == place)
            if len(outside) and len(inside):
                machines = self._machines(rows.some(outside), wanted[outside])
                values[inside] = self._values(rows.some(inside), machines)
            progress(place + 1, _FOLDS + 1)
        # Distances from the border become shares of votes on examples that the machines had not seen.
        self.shares_ = fit_softmax(values, wanted, penalty=1.0)
        self.machines_ = self._machines(rows, wanted)
        progress(_FOLDS + 1, _FOLDS + 1)

    def _machines(self, rows: Sparse, wanted: NDArray[np.float64]) -> Machines:
        """Does a label get more votes than usual? How many more, or fewer, is the weight of the example."""
        svm = require("sklearn.svm", "train", "purpose-svm")
        sparse = require("scipy.sparse", "train", "purpose-svm")
        # A copy: the library sorts what it is given in place.
        parts = rows.values.copy(), rows.columns.copy(), rows.starts.copy()
        matrix = sparse.csr_matrix(parts, shape=(len(rows), len(self.terms_)))
        duals, borders = np.zeros((3, len(rows))), np.zeros(3)
        for label in range(3):
            above = wanted[:, label] - wanted[:, label].mean()
            if (above > 0).any():
                machine = svm.SVC(C=self.c, kernel="poly", degree=self.degree, gamma=_SCALE, coef0=_SCALE)
                machine.fit(matrix, above > 0, sample_weight=np.abs(above) / np.abs(above).mean())
                duals[label, machine.support_] = machine.dual_coef_.toarray()[0]
                borders[label] = machine.intercept_[0]
        used = np.flatnonzero(duals.any(axis=0))
        return Machines(rows.some(used).turned(len(self.terms_)), duals[:, used], borders)

    def _values(self, rows: Sparse, machines: Machines) -> NDArray[np.float64]:
        likeness = products(rows, machines.supports, machines.duals.shape[1])
        kernel = (_SCALE * likeness + _SCALE) ** self.degree
        values: NDArray[np.float64] = kernel @ machines.duals.T + machines.borders
        return values

    def _distributions(self, units: Sequence[Unit]) -> NDArray[Any]:
        return predict_softmax(self._values(self._rows(units), self.machines_), self.shares_)

    def _rows(self, units: Sequence[Unit]) -> Sparse:
        return Sparse.of([frequencies(self.terms_, self._sides(unit)) for unit in units])

    def _sides(self, unit: Unit) -> tuple[list[str], list[str]]:
        """The terms of the turn, and those of the user's utterance before it, told apart by a mark."""
        own = self.words_.terms(target(unit).text, unit.language)
        users = self.words_.terms(last_said(unit, "user"), unit.language)
        return [f"s:{term}" for term in own], [f"u:{term}" for term in users]

    def _state(self) -> State:
        supports, duals, borders = self.machines_
        arrays = {**supports._asdict(), "duals": duals, "borders": borders, "shares": self.shares_}
        return State({"terms": self.terms_.words}, arrays)

    def _restore(self, state: State) -> None:
        arrays = state.arrays
        self.terms_ = Vocabulary(state.data["terms"])
        supports = Sparse(arrays["starts"], arrays["columns"], arrays["values"])
        supports.must_fit(len(self.terms_), arrays["duals"].shape[1])
        self.machines_ = Machines(supports, arrays["duals"], arrays["borders"])
        self.shares_ = arrays["shares"]


class Sparse(NamedTuple):
    """Row i has the numbers `values[starts[i]:starts[i+1]]` in those `columns`, and 0 elsewhere."""

    starts: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: NDArray[np.float64]

    @classmethod
    def of(cls, rows: Sequence[dict[int, float]]) -> Sparse:
        """The sparse matrix of rows given as `{column: value}`."""
        starts = np.cumsum([0, *(len(row) for row in rows)]).astype(np.int64)
        columns = np.array([column for row in rows for column in row], dtype=np.int64)
        values = np.array([value for row in rows for value in row.values()], dtype=np.float64)
        return cls(starts, columns, values)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def must_fit(self, rows: int, width: int) -> None:
        """Complain of numbers from a file that make no matrix of so many rows and columns."""
        starts, columns = self.starts, self.columns
        ends = starts.shape == (rows + 1,) and starts[0] == 0 and starts[-1] == len(columns)
        if not ends or columns.shape != self.values.shape or (np.diff(starts) < 0).any():
            raise ValueError("the rows do not fit together")
        if len(columns) and not 0 <= columns.min() <= columns.max() < width:
            raise ValueError("a column lies outside")

    def row(self, place: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The columns and values of one row."""
        part = slice(self.starts[place], self.starts[place + 1])
        return self.columns[part], self.values[part]

    def some(self, places: Iterable[int]) -> Sparse:
        """The matrix of the rows at these places."""
        rows = [self.row(place) for place in places]
        return Sparse.of([dict(zip(c.tolist(), v.tolist(), strict=True)) for c, v in rows])

    def turned(self, width: int) -> Sparse:
        """The transpose."""
        order = np.argsort(self.columns, kind="stable")
        rows = np.repeat(np.arange(len(self)), np.diff(self.starts))
        starts = np.concatenate([[0], np.cumsum(np.bincount(self.columns, minlength=width))])
        return Sparse(starts.astype(np.int64), rows[order], self.values[order])


def products(rows: Sparse, turned: Sparse, count: int) -> NDArray[np.float64]:
    """Every row times each of `count` other rows, which are given turned."""
    found = np.zeros((len(rows), count))
    for place in range(len(rows)):
        for column, value in zip(*rows.row(place), strict=True):
            others, values = turned.row(column)
            found[place, others] += value * values
    return found


def frequencies(vocabulary: Vocabulary, sides: Iterable[Sequence[str]]) -> dict[int, float]:
    """The frequencies of known terms, each side at unit length, so that long utterances do not drown short ones."""
    row: dict[int, float] = {}
    for side in sides:
        counts = Counter(vocabulary.encode(side))
        del counts[UNKNOWN]
        length = float(np.sqrt(sum(count * count for count in counts.values())))
        row.update({term: count / length for term, count in counts.items()})
    return row


def fit_softmax(features: Matrix, shares: Matrix, penalty: float) -> Matrix:
    """Weights `(features + 1, 3)` under which the shares are likeliest; the last row is the bias, unpenalised."""
    rows = with_bias(features)
    width, labels = rows.shape[1], shares.shape[1]
    weights = np.zeros((width, labels))
    held = np.repeat(np.append(np.full(width - 1, penalty), 1e-6), labels)
    for _ in range(_STEPS):
        given = softmax(rows @ weights)
        gradient = (rows.T @ (given - shares)).ravel() + held * weights.ravel()
        hessian = np.diag(held)
        for a in range(labels):
            for b in range(labels):
                along = given[:, a] * ((a == b) - given[:, b])
                hessian[a::labels, b::labels] += rows.T @ (rows * along[:, None])
        step = np.linalg.solve(hessian, gradient).reshape(weights.shape)
        weights -= step
        if np.abs(step).max() < _CLOSE:
            break
    return weights


def with_bias(features: Matrix) -> Matrix:
    """The features with a column of ones."""
    return np.hstack([features, np.ones((len(features), 1))])


def predict_softmax(features: Matrix, weights: Matrix) -> Matrix:
    """The distributions that the weights give."""
    return softmax(with_bias(features) @ weights)
