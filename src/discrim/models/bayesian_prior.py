"""The inverse-Wishart prior of a Bayesian discriminant: as given, or chosen by the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DataError, ParameterError
from discrim.models.base import Statistic
from discrim.models.tuning import in_memory
from discrim.solvers.wishart import Units
from discrim.solvers.wishart_rules import Prior, evidence_of, left_out, scatter_diagonal
from discrim.solvers.wishart_search import best_prior
from discrim.sources import Rows

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


def prior_units(model: Any, statistic: Statistic, noise: Floats) -> tuple[Units, Mask]:
    """U of Psi = psi U, and the columns that it is about.

    target 'diagonal': the pooled variances S_jj/n, so that the units of the columns do not matter; a column
    without any has no scale and is left out. target 'identity': U = I. A given vector or matrix is U itself.
    """
    p = statistic.n_features
    if np.ndim(model.psi):
        return _given(model.psi, p), np.ones(p, bool)
    if model.target == "identity":
        return Units(np.ones(p)), np.ones(p, bool)
    deviation = np.sqrt(scatter_diagonal(statistic) / statistic.total_weight)
    alive = deviation > noise
    if not alive.any():
        raise DataError(
            "No column varies within a class, so that there is no scale for the prior. Add rows, or give psi as a "
            "number with target='identity'."
        )
    return Units(deviation[alive]), alive


def chosen_prior(model: Any, statistic: Statistic, units: Units, rows: Rows | None, alive: Mask) -> Prior:
    """psi and nu as given (nu: p + 2 where it is not), or those that fit the rows best."""
    p = statistic.n_features
    psi = 1.0 if np.ndim(model.psi) else None if isinstance(model.psi, str) else float(model.psi)
    nu = p + 2.0 if model.nu is None else None if isinstance(model.nu, str) else float(model.nu)
    ways = {value for value in (model.psi, model.nu) if isinstance(value, str)}
    earlier = model.__dict__.pop("_tuned", None)
    if psi is not None and nu is not None:
        return Prior(units, psi, nu)
    if len(ways) > 1:
        raise ParameterError("psi and nu must be chosen in the same way: both by 'evidence' or both by 'loo'.")
    if psi == 0:
        raise ParameterError(f"nu='{model.nu}' needs a prior with a scale; psi is 0. Give a positive psi, or a name.")
    if "evidence" in ways:
        return Prior(units, *_by_evidence(statistic, units, psi, nu))
    if rows is None:
        # The parts of a stream are not kept: what an earlier fit chose is kept instead.
        if earlier is None:
            raise DataError("'loo' needs the rows themselves: use fit first, or 'evidence', or numbers.")
        model._tuned = earlier
        return Prior(units, *earlier)
    model._tuned = _by_leave_one_out(statistic, units, rows, alive, psi, nu)
    return Prior(units, *model._tuned)


def _by_evidence(statistic: Statistic, units: Units, psi: float | None, nu: float | None) -> tuple[float, float]:
    p = statistic.n_features
    if nu is not None and nu <= p - 1:
        raise ParameterError(
            f"psi='evidence' needs a proper prior, nu > p - 1 = {p - 1}; nu is {nu:g}. Leave nu out, or use psi='loo'."
        )
    evidence = evidence_of(statistic, units).bounded()
    _check_scale(evidence.scale, "evidence")
    return best_prior(evidence, psi, nu, p)


def _by_leave_one_out(
    statistic: Statistic, units: Units, rows: Rows, alive: Mask, psi: float | None, nu: float | None
) -> tuple[float, float]:
    block = in_memory(rows)
    if block.weight is not None:
        raise ParameterError("'loo' needs rows without weights; use 'evidence', which takes them.")
    x = np.asarray(block.x, dtype=np.float64)[:, alive]
    criterion = left_out(units.rows(x), block.codes, statistic, units)
    _check_scale(criterion.scale, "loo")
    p, degrees = statistic.n_features, float(criterion.degrees.min())
    if nu is not None and nu + degrees <= p:
        raise ParameterError(
            f"With nu={nu:g} and a row left out, too few degrees of freedom remain for {p} columns. "
            f"Leave nu out, which makes it p + 2, or give more than {p - degrees:g}."
        )
    return best_prior(criterion, psi, nu, p)


def _check_scale(scale: float, way: str) -> None:
    if not scale > 0:
        raise DataError(
            f"'{way}' finds no variance within the classes to choose the prior by: they need more than one row, and "
            "weights that count rows. Give numbers for psi and nu."
        )


def _given(psi: Any, p: int) -> Units:
    """A vector as the diagonal of Psi, or all of it."""
    expected = f"a number, 'evidence', 'loo', {p} positive numbers, or a symmetric positive definite {p} x {p} matrix"
    try:
        array = np.array(psi, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError.bad_value("psi", psi, expected) from None
    if array.shape == (p,) and (array > 0).all() and np.isfinite(array).all():
        return Units(np.sqrt(array))
    if array.shape == (p, p) and np.isfinite(array).all() and np.allclose(array, array.T, rtol=1e-10, atol=0.0):
        try:
            return Units(np.asarray(np.linalg.cholesky(array), dtype=np.float64))
        except np.linalg.LinAlgError:
            pass
    raise ParameterError.bad_value("psi", psi, expected)
