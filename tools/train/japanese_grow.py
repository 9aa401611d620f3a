"""How the Japanese reader's trees are grown: extremely randomised trees over all that is known of a turn."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesRegressor

from lapsus.annotators.encoder.japanese_kernel import Matrix, Scene

Arrays: TypeAlias = dict[str, NDArray[Any]]

TREES, LEAST_TURNS, TRIED = 200, 3, 0.5
"""How many trees, how many turns where one ends, the share of columns tried at each node."""
DIRECTIONS = 40
SEED = 0


def fit_view(scene: Scene) -> Matrix:
    """The directions in which the vectors of what is said and of what it answers differ most."""
    vectors = np.vstack([scene.target, scene.last]).astype(np.float64)
    _, _, directions = np.linalg.svd(vectors - vectors.mean(axis=0), full_matrices=False)
    return directions[:DIRECTIONS].T.astype(np.float16).astype(np.float32)


def grow(rows: Matrix, shares: NDArray[np.float64]) -> Arrays:
    """Trees that say how votes fall, as they are kept."""
    forest = ExtraTreesRegressor(
        TREES, min_samples_leaf=LEAST_TURNS, max_features=TRIED, random_state=SEED, n_jobs=-1
    )
    trees = [grown.tree_ for grown in forest.fit(rows, shares).estimators_]
    skips = [_skips(tree.children_left, tree.children_right) for tree in trees]
    ends = [skip == 0 for skip in skips]
    return {
        "sizes": np.array([len(skip) for skip in skips], dtype=np.int32),
        "skip": np.concatenate(skips).astype(np.int16),
        "column": np.concatenate([np.maximum(tree.feature, 0) for tree in trees]).astype(np.int16),
        "bound": np.concatenate([tree.threshold for tree in trees]).astype(np.float32),
        "values": np.concatenate(
            [tree.value[end, :, 0] for tree, end in zip(trees, ends, strict=True)]
        ).astype(np.float16),
    }


def _skips(left: NDArray[np.intp], right: NDArray[np.intp]) -> NDArray[np.intp]:
    """How far on each node's other branch lies: the first follows at once. None where a tree ends."""
    here = np.arange(len(left))
    ends = left < 0
    if not (ends | (left == here + 1)).all():
        raise SystemExit("trees no longer come in the order in which they are walked through")
    skips: NDArray[np.intp] = np.where(ends, 0, right - here)
    return skips
