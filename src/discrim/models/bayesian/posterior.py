"""The posterior of one class: an inverse-Wishart covariance, and a mean that is Student-t."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from discrim.errors import ParameterError
from discrim.families.gaussian.quadratic import ClassMatrices
from discrim.typing import Floats


@dataclass(frozen=True, eq=False)
class WishartPosterior:
    """Sigma | rows ~ IW(nu, Lambda), mu | Sigma, rows ~ N(mean, Sigma / weight).

    ``nu`` and ``scale`` (Lambda, p x p, made when asked for) are those of the covariance, ``mean`` and ``weight``
    (n_k) those of the mean, which by itself is a multivariate Student-t with ``mean_df`` degrees of freedom.
    """

    label: Any
    names: list[str]
    mean: Floats
    weight: float
    nu: float
    _parts: ClassMatrices
    _at: int

    @property
    def scale(self) -> Floats:
        """Lambda = Psi + S."""
        parts, k = self._parts, self._at
        matrix = parts.matrices[k].copy() if parts.matrices is not None else _gram(parts, k)
        matrix.flat[:: len(matrix) + 1] += parts.ridge[k]
        return matrix

    @property
    def covariance(self) -> Floats:
        """The mean of Sigma, Lambda / (nu - p - 1)."""
        left = self.nu - len(self.mean) - 1
        if left <= 0:
            raise ParameterError(
                f"The covariance of class '{self.label}' has no posterior mean: that needs nu > p + 1 = "
                f"{len(self.mean) + 1} after the rows, and nu is {self.nu:g}. Its mode is Lambda / (nu + p + 1)."
            )
        return self.scale / left

    @property
    def mode(self) -> Floats:
        """The most likely Sigma, Lambda / (nu + p + 1)."""
        return self.scale / (self.nu + len(self.mean) + 1)

    @property
    def mean_df(self) -> float:
        return self.nu - len(self.mean) + 1

    @property
    def mean_scale(self) -> Floats:
        """The scale of each coordinate of the mean, sqrt(Lambda_jj / (n_k mean_df)); nothing p x p is made."""
        parts, k = self._parts, self._at
        if parts.matrices is not None:
            diagonal = np.diagonal(parts.matrices[k])
        else:
            assert parts.rows is not None
            diagonal = np.einsum("ij,ij->j", parts.rows[k], parts.rows[k])
        return np.asarray(np.sqrt((diagonal + parts.ridge[k]) / (self.weight * self.mean_df)))

    def confint(self, level: float = 0.95) -> Any:
        """Central intervals that hold each mean with this probability: p x 2 with the names of the columns."""
        # Brings the profile likelihood with it, which nothing else here needs.
        from discrim.inference.intervals import Intervals, quantile

        quantile(level)  # refuses what is no probability
        t = stdtrit(self.mean_df, 0.5 + 0.5 * level)
        ends = self.mean[:, None] + t * self.mean_scale[:, None] * [-1.0, 1.0]
        return Intervals(ends, self.names, level)


def _gram(parts: ClassMatrices, k: int) -> Floats:
    assert parts.rows is not None
    return np.asarray(parts.rows[k].T @ parts.rows[k])
