"""The coordinate-descent kernels said once more in NumPy: what the C++ must equal."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.kernels.logistic.reference_likelihood import GRADIENT, binary_likelihood
from discrim.kernels.reference_checks import all_inside, require
from discrim.typing import Floats

# Thetas that one call of several_gradients takes.
SEVERAL = 8


def gram_descent(
    hessian: Floats, point: Floats, gradient: Floats, theta: Floats, lasso: Floats, ridge: Floats, *rest: Any
) -> tuple[float, int, bool]:
    """Move ``theta`` to the minimum of the model below, in place.

    m(t) = g'(t - point) + (t - point)'H(t - point) / 2 + sum lasso |t| + sum ridge t^2 / 2. ``rest`` is fixed, close,
    most: coordinates of ``fixed`` (or None) keep their value; a sweep whose largest (H_jj + ridge_j) d_j^2 is at most
    ``close`` is the last of at most ``most``. Returns half the squared length, under H and the ridge, of the way from
    the point; the sweeps; and whether the minimum was reached. Cost: q for every coordinate that changes.
    """
    fixed, close, most = rest
    sizes = {len(values) for values in (point, gradient, theta, lasso, ridge, *([] if fixed is None else [fixed]))}
    require({*sizes, *hessian.shape} == {len(theta)}, "the parts of the quadratic model differ in size")
    curvature, slope = np.diagonal(hessian) + ridge, gradient + hessian @ (theta - point)
    moving = np.flatnonzero((curvature > 0) & (True if fixed is None else fixed == 0))
    sweeps, largest = 0, np.inf
    while sweeps < most and largest > close:
        sweeps, largest = sweeps + 1, 0.0
        for j in moving:
            old = theta[j]
            wanted = hessian[j, j] * old - slope[j]
            theta[j] = np.sign(wanted) * max(abs(wanted) - lasso[j], 0.0) / curvature[j]
            slope += (theta[j] - old) * hessian[j]
            largest = max(largest, curvature[j] * (theta[j] - old) ** 2)
    step = theta - point
    left = 0.5 * float(step @ (slope - gradient + ridge * step))
    return max(left, 0.0), sweeps, bool(largest <= close)


def secant(hessian: Floats, step: Floats, change: Floats) -> Floats:
    """H with H step equal to the change of the gradient that was seen, as BFGS makes it; positive if H is."""
    require({*hessian.shape, len(change)} == {len(step)}, "step, change and H differ in size")
    foreseen = hessian @ step
    model, seen = float(step @ foreseen), float(step @ change)
    wrong = change - foreseen
    # Of a step that the model knew to many digits only rounding could be learned.
    if not (model > 0.0 and seen > 1e-3 * model and float(wrong @ wrong) > 1e-18 * float(change @ change)):
        return hessian
    return np.asarray(hessian + np.outer(change, change / seen) - np.outer(foreseen, foreseen / model))


def several_descents(
    hessians: Floats,
    lanes: NDArray[np.int64],
    places: tuple[Floats, Floats, Floats],
    penalties: tuple[Floats, Floats],
    fixed: NDArray[np.uint8] | None,
    left: Floats,
    *rest: Any,
) -> None:
    """``gram_descent`` of each of these ``lanes``: rows of points, gradients and thetas, and of lasso and ridge.

    Changes the thetas and ``left``, in place. ``rest`` is close, most.
    """
    require(all_inside(lanes, len(hessians)), "there is no such lane")
    for lane in lanes:
        point, gradient, theta = (values[lane] for values in places)
        lasso, ridge = (values[lane] for values in penalties)
        left[lane], _, _ = gram_descent(hessians[lane], point, gradient, theta, lasso, ridge, fixed, *rest)


def several_secants(hessians: Floats, lanes: NDArray[np.int64], steps: Floats, changes: Floats) -> None:
    """``secant`` of each of these ``lanes``, whose steps and changes are given in their order; H changes in place."""
    require(len(lanes) == len(steps) == len(changes), "steps, changes and H differ in size")
    require(all_inside(lanes, len(hessians)), "there is no such lane")
    for lane, step, change in zip(lanes, steps, changes, strict=True):
        hessians[lane] = secant(hessians[lane], step, change)


def several_gradients(
    x: NDArray[Any],
    codes: NDArray[np.int32],
    share: Floats | None,
    weight: Floats | None,
    offset: Floats | None,
    shift: Floats,
    theta: Floats,
) -> tuple[Floats, Floats]:
    """Losses and gradients of the binary log-likelihood at the rows of ``theta`` (SEVERAL x (1 + p)).

    eta = offset + theta_0 + theta_1..p'(x - shift); rows of weight zero count for nothing. Cost: one read of x.
    """
    n, p = x.shape
    require(len(codes) == n and len(shift) == p, "codes or shift have the wrong length")
    for values in (share, weight, offset):
        require(values is None or len(values) == n, "share, weight, offset and rows differ in length")
    require(theta.shape == (SEVERAL, p + 1), "theta has the wrong shape")
    response, nowhere = (codes, share, weight, offset), np.empty(0)
    found = [binary_likelihood(x, response, shift, each, None, nowhere, GRADIENT) for each in theta]
    return np.array([one[0] for one in found]), np.array([one[1] for one in found])
