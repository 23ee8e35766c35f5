"""The inverse-Wishart prior of a Bayesian discriminant: as given, or chosen by the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DataError, ParameterError, name_list
from discrim.families.bayesian.wishart import ClassUnits, Units
from discrim.families.bayesian.wishart_rules import (
    OWN_ROWS,
    Prior,
    class_variances,
    evidence_of,
    left_out,
    scatter_diagonal,
)
from discrim.families.bayesian.wishart_search import best_prior
from discrim.families.bayesian.wishart_units import units_left_out
from discrim.families.gaussian.recipe import Statistic
from discrim.families.recipe import Chosen, Passes
from discrim.typing import Floats, Mask

Targets = dict[str, Units | ClassUnits]


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
    deviation = np.sqrt(scatter_diagonal(statistic) / statistic.total_weight)
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
    deviation = np.sqrt(class_variances(statistic))
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
    if "evidence" in ways:
        return *_best({name: _by_evidence(statistic, units, psi, nu) for name, units in targets.items()}), None
    if passes is None:
        # The parts of a stream are not kept: what an earlier fit chose is kept instead.
        earlier = None if model.earlier is None else model.earlier.settings
        if earlier is None or earlier["target"] not in targets:
            raise DataError("'loo' needs the rows themselves: use fit first, or 'evidence', or numbers.")
        return earlier["target"], Prior(targets[earlier["target"]], earlier["psi"], earlier["nu"]), model.earlier
    x, codes = _unweighted(passes, alive)
    found = {name: _by_leave_one_out(x, codes, statistic, units, psi, nu) for name, units in targets.items()}
    if len(found) > 1:
        # Units that follow the rows closely would be preferred for that alone.
        found = {name: (v + units_left_out(x, codes, statistic, prior), prior) for name, (v, prior) in found.items()}
    target, prior = _best(found)
    return target, prior, Chosen({"target": target, "psi": prior.psi, "nu": prior.nu}, {})


def _best(found: dict[str, tuple[float, Prior]]) -> tuple[str, Prior]:
    """The target of the largest criterion, the first of equals."""
    target = max(found, key=lambda name: found[name][0])
    return target, found[target][1]


def _by_evidence(
    statistic: Statistic, units: Units | ClassUnits, psi: float | None, nu: float | None
) -> tuple[float, Prior]:
    """The best prior in these units; its log evidence, less one for every variance that the units are (Akaike)."""
    p = statistic.n_features
    if nu is not None and nu <= p - 1:
        raise ParameterError(
            f"psi='evidence' needs a proper prior, nu > p - 1 = {p - 1}; nu is {nu:g}. Leave nu out, or use psi='loo'."
        )
    evidence = evidence_of(statistic, units)
    _check_scale(evidence.scale, "evidence")
    psi, nu = best_prior(evidence.bounded(), psi, nu, p)
    weight = statistic.weight[statistic.weight > 0]
    # Classes of few rows share the pooled variances.
    scales = len(np.unique(np.where(weight >= OWN_ROWS, np.arange(len(weight)), -1)))
    variances = p * (scales if isinstance(units, ClassUnits) else 1)
    return evidence.value(psi, nu) - variances, Prior(units, psi, nu)


def _unweighted(passes: Passes, alive: Mask) -> tuple[Floats, NDArray[np.int32]]:
    block = passes.block()
    if block.weight is not None:
        raise ParameterError("'loo' needs rows without weights; use 'evidence', which takes them.")
    return np.asarray(block.x, dtype=np.float64)[:, alive], block.codes


def _by_leave_one_out(
    x: Floats,
    codes: NDArray[np.int32],
    statistic: Statistic,
    units: Units | ClassUnits,
    psi: float | None,
    nu: float | None,
) -> tuple[float, Prior]:
    """The best prior in these units, and the leave-one-out log density in units that stay."""
    criterion = left_out(x, codes, statistic, units)
    _check_scale(criterion.scale, "loo")
    p, degrees = statistic.n_features, float(criterion.degrees.min())
    if nu is not None and nu + degrees <= p:
        raise ParameterError(
            f"With nu={nu:g} and a row left out, too few degrees of freedom remain for {p} columns. "
            f"Leave nu out, which makes it p + 2, or give more than {p - degrees:g}."
        )
    psi, nu = best_prior(criterion, psi, nu, p)
    return criterion.value(psi, nu), Prior(units, psi, nu)


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
