"""The plane of the sphered centroids, in which linear discriminant analysis decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discrim.families.gaussian.covariance import Sphering
from discrim.typing import Floats

# Directions between centroids that are smaller than this part of the largest are rounding.
ROUNDING = 1e-10


@dataclass(frozen=True, eq=False)
class CentroidPlane:
    """x* = W'(x - origin) makes the covariance within the classes I; M is the plane through the x* of the centroids.

    ``sphering`` is W (p x r) with W'Sigma W = I, ``basis`` Q (r x L) spans M, L <= K - 1, and ``centroids`` are those
    of the classes in M (K x L). Distances to the centroids differ between classes by what is in M alone.

    Examples
    --------
    >>> from discrim import LinearDiscriminantAnalysis, datasets
    >>> X, y = datasets.load_iris().xy
    >>> plane = LinearDiscriminantAnalysis().fit(X, y).centroid_plane()
    >>> plane.map.shape, plane.project(X).shape
    ((2, 4), (150, 2))
    """

    sphering: Floats
    origin: Floats
    basis: Floats
    centroids: Floats

    @property
    def projection(self) -> Floats:
        """P = Q Q' (r x r), which drops a sphered point onto the plane."""
        return np.asarray(self.basis @ self.basis.T)

    @property
    def map(self) -> Floats:
        """A = Q'W' (L x p): A (x - origin) are the coordinates of x in the plane."""
        return np.asarray((self.sphering @ self.basis).T)

    def sphere(self, X: Any) -> Floats:
        """Sphered rows x*, n x r."""
        return np.asarray((np.asarray(X, dtype=np.float64) - self.origin) @ self.sphering)

    def project(self, X: Any) -> Floats:
        """Coordinates of the rows in the plane, n x L."""
        return np.asarray((np.asarray(X, dtype=np.float64) - self.origin) @ self.map.T)


def centroid_plane(sphering: Sphering, sphered: Floats, origin: Floats) -> CentroidPlane:
    """The plane through the sphered centroids (r x K), by the QR decomposition of their differences. Cost r K^2."""
    basis, triangle = np.linalg.qr(sphered[:, 1:] - sphered[:, :1])
    size = np.abs(np.diagonal(triangle))
    basis = basis[:, size > ROUNDING * size.max(initial=0.0)]
    return CentroidPlane(sphering.backward(np.eye(len(sphered))), origin, basis, (basis.T @ sphered).T)
