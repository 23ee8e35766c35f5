"""The synthetic data of the gallery: class after class from one generator of seed 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.typing import Floats

Data = tuple[Floats, NDArray[np.int64]]
SLANTED = [[1.0, 0.6], [0.6, 1.0]]
IDENTITY = np.eye(2)


def gaussian(means: Sequence[Any], covariances: Sequence[Any], sizes: Sequence[int]) -> Data:
    """Rows of Gaussian classes 0, 1, ..., one class after the other."""
    rng = np.random.default_rng(0)
    parts = [rng.multivariate_normal(m, s, n) for m, s, n in zip(means, covariances, sizes, strict=True)]
    return np.vstack(parts), np.repeat(np.arange(len(sizes)), sizes)


def equal_covariances(sizes: Sequence[int] = (100, 100)) -> Data:
    """A: (0,0) and (2,2), covariance [[1,.6],[.6,1]]."""
    return gaussian([(0, 0), (2, 2)], [SLANTED] * 2, sizes)


def own_covariances() -> Data:
    """B: as A, the second covariance diag(.2, 2)."""
    return gaussian([(0, 0), (2, 2)], [SLANTED, np.diag([0.2, 2.0])], (100, 100))


def diagonal(classes: int = 3) -> Data:
    """M, M7: classes along the diagonal, 200 rows each."""
    at = 3 * np.arange(3) - 3 if classes == 3 else 4 * np.arange(classes) - 12
    return gaussian([(a, a) for a in at], [IDENTITY] * classes, [200] * classes)


def triangle() -> Data:
    """T: (0,0), (4,0), (2,3.5), covariance I, 100 rows each."""
    return gaussian([(0, 0), (4, 0), (2, 3.5)], [IDENTITY] * 3, (100, 100, 100))


def separated(deviation: float = 0.4) -> Data:
    """SEP (.4), OVER (1): (0,0) and (2,2), 30 rows each."""
    return gaussian([(0, 0), (2, 2)], [deviation**2 * IDENTITY] * 2, (30, 30))


def far() -> Data:
    """FAR: 40 at (-1,0); 40 at (0,0) and 20 at (8,0), deviation .15."""
    x, part = gaussian([(-1, 0), (0, 0), (8, 0)], [0.15**2 * IDENTITY] * 3, (40, 40, 20))
    return x, np.minimum(part, 1)


def outliers(also: bool = True) -> Data:
    """OUT: 50 at (-1,1), 50 at (1,-1), then 10 outliers of the second class at (8,-6); deviation .8."""
    x, part = gaussian([(-1, 1), (1, -1), (8, -6)], [0.8**2 * IDENTITY] * 3, (50, 50, 10))
    keep = slice(None) if also else slice(0, 100)
    return x[keep], np.minimum(part, 1)[keep]


def pinwheel() -> Data:
    """PIN: means at radius 3, angles 90, 210, 330, main axes turned 45 degrees further, variances 4 and .2."""
    angles = np.deg2rad([90.0, 210.0, 330.0])
    means = [3 * np.array([np.cos(a), np.sin(a)]) for a in angles]
    turns = [np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]) for a in angles + np.pi / 4]
    return gaussian(means, [t @ np.diag([4.0, 0.2]) @ t.T for t in turns], (100, 100, 100))


def elongated() -> Data:
    """ELL: (0,0) and (3,1), covariance [[3,2.6],[2.6,3]], 100 rows each."""
    return gaussian([(0, 0), (3, 1)], [[[3, 2.6], [2.6, 3]]] * 2, (100, 100))


def xor() -> Data:
    """The four points of XOR."""
    x = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    return x, np.array([0, 1, 1, 0])


def wrong(model: Any, X: Any, y: Any) -> int:
    """How many rows the model puts into another class."""
    return int((np.asarray(model.predict(X)) != np.asarray(y)).sum())
