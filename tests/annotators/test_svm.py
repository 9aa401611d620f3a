from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lapsus.annotators.cases import shares, voted_examples
from lapsus.annotators.challenge.svm import Sparse, Svm, products
from lapsus.annotators.model_files import State
from lapsus.errors import UsageError
from lapsus.model import UnitRule, units
from tests.annotators import invented


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_judging_in_numpy_is_what_the_library_computes(degree: int) -> None:
    from sklearn.svm import SVC

    documents, votes = invented.data("en")
    svm = Svm(degree=degree).fit(documents, votes)
    rule = UnitRule(role="system")
    examples = list(voted_examples((unit for one in documents for unit in units(one, rule)), votes))
    rows, wanted = svm._rows([example.unit for example in examples]), shares(examples)
    plain = np.zeros((len(rows), len(svm.terms_)))
    for place in range(len(rows)):
        columns, values = rows.row(place)
        plain[place, columns] = values
    above = wanted[:, 2] - wanted[:, 2].mean()
    library = SVC(C=svm.c, kernel="poly", degree=degree, gamma=1 / 3, coef0=1 / 3)
    library.fit(plain, above > 0, sample_weight=np.abs(above) / np.abs(above).mean())
    # The library stops within a tolerance of 0.001, and sparse rows come to it in another order.
    assert svm._values(rows, svm.machines_)[:, 2] == pytest.approx(library.decision_function(plain), abs=5e-3)


def test_the_degree_is_one_two_or_three() -> None:
    with pytest.raises(UsageError, match="1, 2 or 3"):
        Svm(degree=4)


def test_products_of_sparse_rows() -> None:
    first = Sparse.of([{0: 1.0, 2: 2.0}, {}, {1: 3.0}])
    second = Sparse.of([{2: 5.0}, {0: 1.0, 1: 1.0}])
    assert products(first, second.turned(3), 2).tolist() == [[10.0, 1.0], [0.0, 0.0], [0.0, 3.0]]
    assert first.some([2, 0]).row(0)[0].tolist() == [1]


@pytest.mark.parametrize(
    "change",
    [
        lambda parts: parts | {"starts": parts["starts"][:-1]},
        lambda parts: parts | {"columns": parts["columns"] + 2**40},
        lambda parts: parts | {"columns": -1 - parts["columns"]},
        lambda parts: parts | {"values": parts["values"][:-1]},
        lambda parts: parts | {"starts": np.concatenate([[0, 5, 3], parts["starts"][3:]])},
    ],
)
def test_a_model_whose_rows_do_not_fit_is_damaged_not_only_where_they_are_used(
    change: Callable[[dict[str, Any]], dict[str, Any]],
) -> None:
    svm = Svm().fit(*invented.data("en"))
    state = svm._state()
    svm._restore(state)
    with pytest.raises(ValueError, match=r"fit together|outside"):
        svm._restore(State(state.data, change(dict(state.arrays))))
