"""The inverse-Wishart prior of a Bayesian discriminant: as given, or chosen by the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq

from discrim.errors import DataError, ParameterError, RowsNeededError, name_list
from discrim.families.bayesian.wishart import ClassUnits, Criterion, Evidence, Prior, Units, evidence_of, left_out
from discrim.families.gaussian.leave_one_out import rho_of
from discrim.families.gaussian.recipe import Statistic
from discrim.families.recipe import Chosen, Passes
from discrim.typing import Codes, Floats, Mask

# A class has variances of its own if it still has some when a row is left out.
OWN_ROWS = 3
Targets = dict[str, Units | ClassUnits]
# psi is looked for between these multiples of what would make the prior's scale that of the rows.
_PSI_RANGE = (-10.0, 10.0)
_PSI_STEPS = 41
# nu - (p - 1), as powers of ten: from hardly proper to a prior that outweighs any rows.
_NU_POWERS = np.linspace(-1.5, 7.0, 35)
# A variance that is that of one row alone is not followed to zero: the pooled one would take its place.
_LEAST_SHARE = 1e-3


def prior_units(model: Any, statistic: Statistic, noise: Floats) -> tuple[Units, Mask]:
    """U of Psi = psi U, and the columns that it is about.

    target 'identity': U = I. A given vector or matrix is U itself. Else the pooled variances S_jj/n, so that the
    units of the columns do not matter; a column without any has no scale and is left out.
    """
    p = statistic.n_features
    if np.ndim(model.psi):
        return _given(model.psi, p), np.ones(p, bool)
    if model.target == "identity":
        return Units(np.ones(p)), np.ones(p, bool)
    deviation = np.sqrt(statistic.squares.sum(axis=0) / statistic.total_weight)
    alive = deviation > noise
    if not alive.any():
        raise DataError(
            "No column varies within a class, so that there is no scale for the prior. Add rows, or give psi as a "
            "number with target='identity'."
        )
    return Units(deviation[alive]), alive


def targets_of(model: Any, units: Units, statistic: Statistic, noise: Floats) -> Targets:
    """What U may be, by the name of the target; two of them for 'auto'.

    target 'class-diagonal': the variances S_k,jj/n_k of each class; those pooled where a class has none, or less than
    three rows.
    """
    if np.ndim(model.psi):
        return {"given": units}
    if model.target not in ("class-diagonal", "auto"):
        return {model.target: units}
    weight = statistic.weight[:, None]
    variances = np.where(weight >= OWN_ROWS, np.maximum(statistic.squares, 0.0) / np.maximum(weight, 1.0), 0.0)
    deviation = np.sqrt(variances)
    own = ClassUnits(np.where(deviation > noise, deviation, units.root))
    return {"diagonal": units, "class-diagonal": own} if model.target == "auto" else {"class-diagonal": own}


def chosen_prior(
    model: Any, statistic: Statistic, targets: Targets, passes: Passes | None, alive: Mask
) -> tuple[str, Prior, Chosen | None]:
    """The target, and psi and nu as given (nu: p + 2 where it is not); or those that fit the rows best.

    What was chosen by the rows themselves is kept, for parts that come later.
    """
    p = statistic.n_features
    psi = 1.0 if np.ndim(model.psi) else None if isinstance(model.psi, str) else float(model.psi)
    nu = p + 2.0 if model.nu is None else None if isinstance(model.nu, str) else float(model.nu)
    ways = {value for value in (model.psi, model.nu) if isinstance(value, str)}
    if psi is not None and nu is not None:
        if len(targets) > 1:
            raise ParameterError(
                "target='auto' is chosen together with psi or nu, and both are given. "
                f"Let one be 'evidence' or 'loo', or name the target: {name_list(targets)}."
            )
        target, units = next(iter(targets.items()))
        return target, Prior(units, psi, nu), None
    if len(ways) > 1:
        raise ParameterError("psi and nu must be chosen in the same way: both by 'evidence' or both by 'loo'.")
    if psi == 0:
        raise ParameterError(f"nu='{model.nu}' needs a prior with a scale; psi is 0. Give a positive psi, or a name.")
    rows: tuple[Floats, Codes] | None = None
    if "loo" in ways:
        if passes is None:
            # The parts of a stream are not kept: what an earlier fit chose is kept instead.
            earlier = None if model.earlier is None else model.earlier.settings
            if earlier is None or earlier["target"] not in targets:
                raise RowsNeededError("'loo' needs the rows themselves: use fit first, or 'evidence', or numbers.")
            return earlier["target"], Prior(targets[earlier["target"]], earlier["psi"], earlier["nu"]), model.earlier
        block = passes.block()
        if block.weight is not None:
            raise ParameterError("'loo' needs rows without weights; use 'evidence', which takes them.")
        rows = np.asarray(block.x, dtype=np.float64)[:, alive], block.codes
    found = {name: _best_in(units, statistic, rows, psi, nu) for name, units in targets.items()}
    if rows is not None and len(found) > 1:
        # Units that follow the rows closely would be preferred for that alone.
        found = {name: (v + units_left_out(*rows, statistic, prior), prior) for name, (v, prior) in found.items()}
    target = max(found, key=lambda name: found[name][0])
    prior = found[target][1]
    chosen = Chosen({"target": target, "psi": prior.psi, "nu": prior.nu}, {})
    return target, prior, None if rows is None else chosen


def _best_in(
    units: Units | ClassUnits,
    statistic: Statistic,
    rows: tuple[Floats, Codes] | None,
    psi: float | None,
    nu: float | None,
) -> tuple[float, Prior]:
    """The best prior in these units, by the leave-one-out log density of the ``rows`` or, without them, the evidence.

    From the log evidence one is subtracted for every variance that the units are (Akaike).
    """
    p, variances = statistic.n_features, 0
    criterion: Criterion
    if rows is None:
        if nu is not None and nu <= p - 1:
            raise ParameterError(
                f"psi='evidence' needs a proper prior, nu > p - 1 = {p - 1}; nu is {nu:g}. "
                "Leave nu out, or use psi='loo'."
            )
        criterion = evidence_of(statistic, units)
        weight = statistic.weight[statistic.weight > 0]
        # Classes of few rows share the pooled variances.
        scales = len(np.unique(np.where(weight >= OWN_ROWS, np.arange(len(weight)), -1)))
        variances = p * (scales if isinstance(units, ClassUnits) else 1)
    else:
        criterion = left_out(*rows, statistic, units)
        degrees = float(criterion.degrees.min())
        if criterion.scale > 0 and nu is not None and nu + degrees <= p:
            raise ParameterError(
                f"With nu={nu:g} and a row left out, too few degrees of freedom remain for {p} columns. "
                f"Leave nu out, which makes it p + 2, or give more than {p - degrees:g}."
            )
    if not criterion.scale > 0:
        raise DataError(
            f"'{'evidence' if rows is None else 'loo'}' finds no variance within the classes to choose the prior by: "
            "they need more than one row, and weights that count rows. Give numbers for psi and nu."
        )
    bounded = criterion.bounded() if isinstance(criterion, Evidence) else criterion
    prior = Prior(units, *best_prior(bounded, psi, nu, p))
    return criterion.value(prior.psi, prior.nu) - variances, prior


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


def best_prior(criterion: Criterion, psi: float | None, nu: float | None, n_columns: int) -> tuple[float, float]:
    """(psi, nu) with the largest criterion; a number that is given stays.

    A maximum is located on a grid and then found as a root of the slope, which is known to full precision where
    the values of the criterion are not: rows that come in parts give the same prior.
    """
    if nu is not None:
        return (psi if psi is not None else best_psi(criterion, nu, n_columns)), nu
    least = n_columns - 1.0

    def at(power: float) -> tuple[float, float]:
        tried = least + 10.0**power
        return (psi if psi is not None else best_psi(criterion, tried, n_columns)), tried

    found = [at(power) for power in _NU_POWERS]
    best = int(np.argmax([criterion.value(*prior) for prior in found]))
    around = _NU_POWERS[[max(best - 1, 0), min(best + 1, len(_NU_POWERS) - 1)]]
    # Along the best psi of every nu, the slope is the one at a fixed psi.
    power = _root(lambda power: criterion.along_nu(*at(power)), around[0], around[1])
    return found[best] if power is None else at(power)


def best_psi(criterion: Criterion, nu: float, n_columns: int) -> float:
    """The psi of the largest criterion for this nu."""
    centre = np.log(criterion.scale * max(nu - n_columns + 1.0, 1.0))
    ends = np.log(10.0) * np.array(_PSI_RANGE) + centre

    def slope(log_psi: float) -> float:
        return criterion.along_psi(float(np.exp(log_psi)), nu)

    grid = np.linspace(ends[0], ends[1], _PSI_STEPS)
    if isinstance(criterion, Evidence):
        best, around = (0 if slope(ends[0]) <= 0 else -1), ends
    else:
        best = int(np.argmax([criterion.value(float(psi), nu) for psi in np.exp(grid)]))
        around = grid[[max(best - 1, 0), min(best + 1, _PSI_STEPS - 1)]]
    log_psi = _root(slope, around[0], around[1])
    return float(np.exp(grid[best] if log_psi is None else log_psi))


def _root(slope: Callable[[float], float], lo: float, hi: float) -> float | None:
    """Where the slope goes from rising to falling; None if it does not."""
    if not (slope(lo) > 0 > slope(hi)):
        return None
    return float(brentq(slope, lo, hi, xtol=1e-14, rtol=4 * float(np.finfo(float).eps)))


def units_left_out(x: Floats, codes: Codes, statistic: Statistic, prior: Prior) -> float:
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
