"""The likelihood kernels said once more in NumPy: what the C++ must equal."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

from discrim.kernels.reference_checks import Compressed, all_inside, compressed_rows, require
from discrim.typing import Floats

LOSS, GRADIENT, CURVATURE, BLOCKS = 0, 1, 2, 3

# Codes of the classes; shares, weights and offsets, or None.
Response = tuple[NDArray[np.int32], Floats | None, Floats | None, Floats | None]
Sums = tuple[float, Floats, Floats, Floats, float]
# Theta; value and gap before the last step; steps; the sums before the last step.
Newton = tuple[Floats, float, float, int, Sums]
Start = tuple[Floats, Floats, Floats]
Rule = tuple[Floats | None, float, float, int, int]
# Theta; its value; what it can still fall; steps; passes; whether it is the minimum; the sums before the last step.
Descent = tuple[Floats, float, float, int, int, bool, Sums]

ONE_ROW = "theta must be one row, or one row a class"


def binary_likelihood(
    x: Any, response: Response, shift: Floats, theta: Floats, along: Floats | None, steps: Floats, depth: int
) -> Sums:
    """Loss, gradient and curvature of w (log(1 + exp(eta)) - y eta), summed over the rows.

    eta = offset + theta_0 + theta_1..p'(x - shift); y is 1 for code 1, or ``share`` where given. The fourth result
    holds the losses at theta + s along, for every s of ``steps``; the last is the smallest curvature of a row, infinite
    without rows. What ``depth`` does not ask for is empty.
    """
    require(theta.ndim == 1, ONE_ROW)
    _check(x, response, shift, theta, along)
    require(LOSS <= depth <= CURVATURE, "depth must be 0, 1, 2, or 3 for more classes")
    x, (codes, share, weight, offset) = _that_count(x, response)
    y = (codes == 1).astype(float) if share is None else share
    w = np.ones(len(y)) if weight is None else weight
    z = _design(x, shift)
    eta = z @ theta + (0.0 if offset is None else offset)
    losses = np.zeros(len(steps))
    if along is not None:
        slope = z @ along
        losses[:] = [w @ (np.logaddexp(0.0, eta + s * slope) - y * (eta + s * slope)) for s in steps]
    loss = float(w @ (np.logaddexp(0.0, eta) - y * eta))
    gradient, hessian = np.empty(0), np.empty((0, 0))
    mu, rest = expit(eta), expit(-eta)
    if depth >= GRADIENT:
        # Not mu - y, which of a row that is all but certain has no digits.
        gradient = z.T @ (w * (mu * (1.0 - y) - rest * y))
    spread = w * mu * rest
    if depth >= CURVATURE:
        hessian = _symmetric(z.T @ (spread[:, None] * z))
    return loss, gradient, hessian, losses, float(spread.min(initial=np.inf))


def binary_newton(
    x: Any, response: Response, shift: Floats, theta: Floats, ridge: Floats, held: bool, enough: float, most: int
) -> Newton | None:
    """The minimum of loss + sum ridge theta^2 / 2 by full Newton steps from theta; the constant stays if ``held``.

    A step that promises to lower the value by no more than ``enough`` is the last. None where a step does not lower the
    value, where the curvature has no inverse, or after ``most`` steps: the general solver then takes over. It does so
    always without the compiled kernel, which saves nothing but calls.
    """
    _ = x, response, shift, theta, ridge, held, enough, most
    return None


def quasi_newton(
    x: Any, response: Response, shift: Floats, start: Start, rule: Rule, known: tuple[float, Floats] | None
) -> Descent | None:
    """The minimum of loss + sum ridge theta^2 / 2 by L-BFGS from theta, of dense or of compressed rows.

    ``start``: theta, ridge, and an inverse like that of the curvature, either its diagonal or a square for every class;
    coefficients whose row and column are zero keep their value. ``rule``: slopes below which all are flat, or None; the
    gap that is enough; a value that no theta reaches; the most steps; and how many of them are remembered. ``known``:
    loss and gradient at the start.

    None without the compiled kernel, which saves nothing but calls: the general solver then takes over.
    """
    _ = x, response, shift, start, rule, known
    return None


def softmax_likelihood(
    x: Any, response: Response, shift: Floats, theta: Floats, along: Floats | None, steps: Floats, depth: int
) -> Sums:
    """The same for K classes: eta_k = theta_k0 + theta_k'(x - shift), loss w (log sum exp eta - eta_y).

    The last result is half the smallest w mu, which the curvature of a row along a pair of classes is never below.
    ``theta`` and the gradient are K x (1 + p); the curvature is
    K(1 + p) square, class by class, or with the depth BLOCKS only its K diagonal blocks.
    """
    require(theta.ndim == 2, ONE_ROW)
    _check(x, response, shift, theta, along)
    require(LOSS <= depth <= BLOCKS, "depth must be 0, 1, 2, or 3 for more classes")
    require(all_inside(response[0], len(theta)), "a code is not below the number of classes")
    x, (codes, _, weight, _) = _that_count(x, response)
    w = np.ones(len(codes)) if weight is None else weight
    z = _design(x, shift)
    eta, at = z @ theta.T, np.arange(len(codes))
    losses = np.zeros(len(steps))
    if along is not None:
        slope = z @ along.T
        losses[:] = [w @ (logsumexp(eta + s * slope, axis=1) - (eta + s * slope)[at, codes]) for s in steps]
    top = logsumexp(eta, axis=1)
    loss = float(w @ (top - eta[at, codes]))
    gradient, hessian = np.empty((0, 0)), np.empty((0, 0))
    mu = np.exp(eta - top[:, None])
    classes, q = theta.shape
    if depth >= GRADIENT:
        residual = mu.copy()
        residual[at, codes] -= 1.0
        gradient = (w[:, None] * residual).T @ z
    if depth == BLOCKS:
        hessian = np.stack([z.T @ ((w * m * (1.0 - m))[:, None] * z) for m in mu.T])
    if depth == CURVATURE:
        hessian = np.empty((classes, q, classes, q))
        for k in range(classes):
            for m in range(classes):
                factor = mu[:, k] * ((1.0 if k == m else 0.0) - mu[:, m])
                hessian[k, :, m] = z.T @ ((w * factor)[:, None] * z)
        hessian = _symmetric(hessian.reshape(classes * q, classes * q))
    return loss, gradient, hessian, losses, 0.5 * float((w[:, None] * mu).min(initial=np.inf))


def sparse_likelihood(
    rows: Compressed, response: Response, theta: Floats, along: Floats | None, steps: Floats, depth: int
) -> Sums:
    """Loss and gradient of compressed rows (values, their columns, where each row begins), which are not shifted.

    A theta of two dimensions means softmax.
    """
    p = theta.shape[-1] - 1
    require(depth <= GRADIENT, "there is no curvature of sparse rows")
    require(p >= 0, "theta has no intercept")
    x = compressed_rows(rows, p)
    if theta.ndim == 2:
        return softmax_likelihood(x, response, np.zeros(p), theta, along, steps, depth)
    return binary_likelihood(x, response, np.zeros(p), theta, along, steps, depth)


def _check(x: Any, response: Response, shift: Floats, theta: Floats, along: Floats | None) -> None:
    codes, *others = response
    n, p = x.shape
    require(len(shift) == p, "shift and columns differ in length")
    require(len(codes) == n, "codes and rows differ in length")
    same = all(values is None or len(values) == n for values in others)
    require(same, "share, weight, offset and rows differ in length")
    require(theta.shape[-1] == p + 1, "theta has the wrong size")
    require(along is None or along.size == theta.size, "along has the wrong size")


def _that_count(x: Any, response: Response) -> tuple[Any, Response]:
    """Without the rows of weight zero, whatever they hold."""
    codes, share, weight, offset = response
    if weight is None or bool((weight > 0).all()):
        return x, response
    kept = np.flatnonzero(weight > 0)
    share, offset = (None if v is None else v[kept] for v in (share, offset))
    return x[kept], (codes[kept], share, weight[kept], offset)


def _symmetric(matrix: Floats) -> Floats:
    return np.asarray(0.5 * (matrix + matrix.T))


def _design(x: Any, shift: Floats) -> Floats:
    dense = np.asarray(x if isinstance(x, np.ndarray) else x.toarray(), dtype=float)
    return np.column_stack([np.ones(len(dense)), dense - shift])
