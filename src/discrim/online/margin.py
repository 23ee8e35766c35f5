"""Margins of separating hyperplanes, and the number of corrections that they allow."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from discrim.engines import RowPasses
from discrim.families.logistic.objective import Coordinates, Objective
from discrim.families.logistic.separation import find_separation
from discrim.sources import open_rows
from discrim.typing import Floats

# Numbers of X up to which the widest margin is looked for.
CHEAP = 50_000
# How much longer than a row the constant is, where the intercept shall cost nothing.
FREE_CONSTANT = 100.0


def margin(x: Floats, sign: Floats, w: Floats, b: float, constant: float = 0.0) -> float:
    """min y (w'x + b), for (w, b) made such that w and ``constant`` b together have length 1."""
    length = float(np.hypot(np.linalg.norm(w), constant * b))
    return float((sign * (x @ w + b)).min()) / length if length > 0 else 0.0


def most_updates(
    x: Floats, sign: Floats, plane: tuple[Floats, float], *, chicago: bool, intercept: bool
) -> float | None:
    """The corrections one by one that a perceptron can at most need, from a hyperplane that separates the rows.

    With b += y R^2: (2 R / gamma)^2, gamma = min y (w'x + b) for |w| = 1. With b += y: (R / gamma)^2 for rows that
    have a 1 at their end, gamma for |(w, b)| = 1. None where (w, b) separates nothing.
    """
    w, b = plane
    radius = float(np.sqrt(np.einsum("ij,ij->i", x, x).max()))
    if chicago and intercept:
        reach, gamma = 2.0 * radius, margin(x, sign, w, b)
    else:
        reach, gamma = float(np.hypot(radius, intercept)), margin(x, sign, w, b, float(intercept))
    return (reach / gamma) ** 2 if gamma > 0 else None


def widest(x: Floats, sign: Floats, *, chicago: bool, intercept: bool) -> tuple[Floats, float] | None:
    """The hyperplane with the widest margin, nearly; None where it takes long or there is none.

    The shortest v with G v >= 1, G the rows y (x, c), is found from non-negative least squares: u >= 0 that brings
    (G'u, 1'u) closest to (0, 1) leaves a residual r, and v = -r_1..p / r_p+1.
    """
    n, p = x.shape
    radius = float(np.sqrt(np.einsum("ij,ij->i", x, x).max()))
    if n * p > CHEAP or radius == 0:
        return None
    constant = (FREE_CONSTANT if chicago else 1.0 / radius) if intercept else 0.0
    rows = sign[:, None] * np.column_stack([x / radius, np.full(n, constant)])
    system = np.vstack([rows.T, np.ones(n)])
    target = np.zeros(p + 2)
    target[-1] = 1.0
    try:
        u, _ = nnls(system, target)
    except RuntimeError:
        return None
    residual = system @ u - target
    if residual[-1] == 0:
        return None
    v = -residual[:-1] / residual[-1]
    return v[:-1] / radius, float(constant * v[-1])


def separable(x: Floats, sign: Floats, *, intercept: bool) -> bool:
    """Is there a hyperplane with every row strictly on its side? By linear programs on the rows that matter."""
    classes = np.array([-1, 1])
    if not intercept:
        # A plane through the origin separates rows if and only if it does so for all of them on one side.
        x, sign = np.vstack([sign[:, None] * x, -sign[:, None] * x]), np.repeat([1.0, -1.0], len(x))
    elif len(np.unique(sign)) < 2:
        return True
    shift = x.mean(axis=0) if intercept else np.zeros(x.shape[1])
    scale = np.sqrt(((x - shift) ** 2).mean(axis=0))
    coordinates = Coordinates(shift, np.where(scale > 0, scale, 1.0), intercept)
    return find_separation(Objective(RowPasses(open_rows(x, sign.astype(np.int64))), classes, coordinates)).complete
