"""What a leave-one-out density owes to units of the prior that were taken from the same rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discrim.families.bayesian.wishart import ClassUnits
from discrim.families.bayesian.wishart_rules import OWN_ROWS, Prior, Statistic
from discrim.families.gaussian.leave_one_out import rho_of
from discrim.typing import Floats

# A variance that is that of one row alone is not followed to zero: the pooled one would take its place.
_LEAST_SHARE = 1e-3


def units_left_out(x: Floats, codes: NDArray[np.int32], statistic: Statistic, prior: Prior) -> float:
    """The change of the sum of log f(x_i | other rows) when row i leaves the variances of the units too.

    To first order: the slope of log f along log u_j, with A = Psi + S, d = x - mu, E = d'A^-1 d, rho = n_k/(n_k - 1),

        psi u_j/2 [(nu + n_k - 2) rho (A^-1 d)_j^2/(1 - rho E) - (A^-1)_jj],

    times the change of log u_j, u_j = S_jj/n, without the row, log[n/(n - 1) (1 - rho d_j^2/S_jj)]; n is n_k for the
    units of a class. It is negative where units follow the rows, and the more so the fewer rows they are of.
    The statistic must be full. Cost n p^2 + K p^3, or K n_k^2 p for classes of fewer rows than columns.
    """
    total, psi, rhos = 0.0, prior.psi, rho_of(statistic.weight)
    for k in np.flatnonzero(statistic.weight > 1).tolist():
        z, rho = prior.units.of_class(k).rows(x[codes == k] - statistic.mean[k]), float(rhos[k])
        own = isinstance(prior.units, ClassUnits) and statistic.weight[k] >= OWN_ROWS
        n = float(statistic.weight[k] if own else statistic.total_weight)
        along, diagonal = _solved(z, psi)
        left = np.maximum(1.0 - rho * np.einsum("ij,ij->i", z, along), np.finfo(float).eps)
        gain = (prior.nu + statistic.weight[k] - 2.0) * rho / left[:, None]
        slope = 0.5 * psi * (gain * np.square(along) - diagonal)
        share = n / (n - 1.0) * (1.0 - rho / n * np.square(z))
        total += float(np.vdot(slope, np.log(np.maximum(share, _LEAST_SHARE))))
    return total


def _solved(z: Floats, psi: float) -> tuple[Floats, Floats]:
    """Rows of z A^-1 and the diagonal of A^-1, A = psi I + z'z."""
    n, p = z.shape
    values, vectors = np.linalg.eigh(z.T @ z if n > p else z @ z.T)
    inverse: Floats = (vectors / (np.maximum(values, 0.0) + psi)) @ vectors.T
    if n > p:
        return z @ inverse, np.diagonal(inverse)
    along = inverse @ z
    return along, (1.0 - np.einsum("ij,ij->j", z, along)) / psi
