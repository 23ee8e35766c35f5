"""Ridge regression on sparse rows by conjugate gradients: products with the rows alone, all targets at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from discrim import kernels
from discrim.families.rule import Output, entries, over_rows
from discrim.parallel import blas_threads
from discrim.typing import Floats

# So many times fewer rows than columns, and the system of the rows is solved.
FEWER = 2
# Columns of which the system of the rows is solved exactly, to find the directions of the others.
FREQUENT = 64
# Entries of a column from which on products by columns are made one column after the other.
LONG = 6


def sparse_ridge(
    rows: Any, weight: Floats, targets: Floats, origin: Floats, squares: Floats, alphas: Floats, tol: float, most: int
) -> tuple[Floats, int]:
    """Coefficients p x K of argmin |Y - XB|^2 + alpha |B|^2 for sparse rows X, and the iterations that it took.

    ``targets`` (n x K) are centred, ``squares`` are those of the columns about their ``origin``: columns without any
    have no part. With far fewer rows than columns b = X'a, (XX' + alpha I) a = Y; else (X'X + alpha I) b = X'Y with
    columns scaled to one length, which near as many rows as columns takes a fraction of the steps. The residual falls
    to ``tol`` of its first value; to a tenth of that where scikit-learn's would be one of rows, which is a closer one.
    Rows are near to their largest columns and a diagonal (``_near_rows``), which takes half the steps or fewer.
    Cost: two products with the rows, 2 nnz K, an iteration; nothing but the rows once more, column by column,
    K columns of n and of p numbers, and for far fewer rows than columns 2 FREQUENT of n is kept.
    """
    kept, columns, size = np.flatnonzero(squares > 0), len(squares), targets.shape[1]
    x = _of_columns(rows, kept, columns)
    origin, squares = origin[kept], squares[kept]
    targets, alphas = _padded(targets, 0.0), _padded(alphas[None], 1.0)
    across, root = _across(x, targets.shape[1]), None if (weight == 1.0).all() else np.sqrt(weight)[:, None]
    none = np.zeros(targets.shape[1])

    def rooted(v: Floats) -> Floats:
        return v if root is None else root * v

    def backward(v: Floats) -> Floats:
        out = _product(across, rooted(v), none)
        out -= origin[:, None] * rooted(v).sum(axis=0)
        return out

    if FEWER * x.shape[0] < x.shape[1]:
        # (X - 1 o')(X - 1 o')'v from X(X'v) and X o: nothing is as long as there are columns but X'v.
        of_origin, length = np.asarray(x @ origin)[:, None], float(origin @ origin)

        ones = np.ones(x.shape[0])

        def times(v: Floats) -> Floats:
            w = rooted(v)
            total = ones @ w
            out = _product(x, _product(across, w, none), length * total - (of_origin * w).sum(axis=0))
            out -= of_origin * total
            return rooted(out) + alphas * v

        with blas_threads(FREQUENT):
            near = _near_rows(x, root, origin, squares, float(alphas.mean()))
            a, steps = _conjugate(times, rooted(targets), near, tol, most)
        found = backward(a)
    else:
        tol *= 0.1 if x.shape[0] < columns else 1.0
        diagonal = squares[:, None] + alphas
        found, steps = _conjugate(
            lambda u: backward(rooted(_product(x, u, -(origin @ u)))) + alphas * u,
            backward(rooted(targets)), lambda v: v / diagonal, tol, most,
        )  # fmt: skip
    coef = np.zeros((columns, size))
    coef[kept] = found[:, :size]
    return coef, steps


def _product(rows: Any, u: Floats, offset: Floats) -> Floats:
    """offset_k + x_i'u_k, n x K."""
    if u.shape[1] == 1 or rows.format != "csr":
        out = np.asarray(rows @ u)
        out += offset
        return out
    out = np.empty((rows.shape[0], u.shape[1]))

    def fill(start: int, stop: int) -> None:
        kernels.sparse_score(entries(rows, start, stop), u, offset, None, Output.SCORES, out[start:stop])

    over_rows(rows, fill)
    return out


def _across(x: Any, width: int) -> Any:
    """The columns as rows: in order, if there is more to do for each of them than to find it."""
    return x.T.tocsr() if width > 1 and x.nnz >= LONG * x.shape[1] else x.T


def _of_columns(rows: Any, kept: NDArray[np.intp], columns: int) -> Any:
    """The rows with these columns only."""
    if len(kept) == columns:
        return rows
    place = np.full(columns, -1, dtype=rows.indices.dtype)
    place[kept] = np.arange(len(kept), dtype=place.dtype)
    indices = place[rows.indices]
    there = indices >= 0
    first = np.concatenate([np.zeros(1, np.int64), np.cumsum(there)])[rows.indptr].astype(rows.indptr.dtype)
    return sparse.csr_array((rows.data[there], indices[there], first), shape=(rows.shape[0], len(kept)))


def _padded(values: Floats, by: float) -> Floats:
    """With columns ``by`` to the width that the kernel takes."""
    size = values.shape[1]
    width = next((few for few in (1, 2, 4) if size <= few), -(-size // 8) * 8)
    padded = np.full((len(values), width), by)
    padded[:, :size] = values
    return padded


def _near_rows(
    x: Any, root: Floats | None, origin: Floats, squares: Floats, alpha: float
) -> Callable[[Floats], Floats]:
    """v -> M^-1 v with M near XX' + alpha I: FF' of the centred columns F with the largest squares, and a diagonal.

    (FF' + D)^-1 = D^-1 - VV' with V = W L'^-1, W = D^-1 F and LL' = I + F'W.
    """
    few = min(FREQUENT, len(squares))
    largest = np.argpartition(squares, len(squares) - few)[len(squares) - few :]
    among = np.zeros(len(squares), dtype=bool)
    among[largest] = True
    others = np.where(among[x.indices], 0.0, np.square(x.data, dtype=np.float64))
    rest = np.asarray(sparse.csr_array((others, x.indices, x.indptr), shape=x.shape) @ np.ones(x.shape[1]))
    columns = x[:, largest].toarray() - origin[largest]
    if root is not None:
        rest, columns = rest * root[:, 0] ** 2, root * columns
    diagonal = (rest + alpha)[:, None]
    scaled = columns / diagonal
    lower = linalg.cholesky(columns.T @ scaled + np.eye(few), lower=True)
    across = linalg.solve_triangular(lower, scaled.T, lower=True)
    down = np.ascontiguousarray(across.T)

    def near(v: Floats) -> Floats:
        out = v / diagonal
        out -= down @ (across @ v)
        return out

    return near


def _conjugate(
    times: Callable[[Floats], Floats], target: Floats, near: Callable[[Floats], Floats], tol: float, most: int
) -> tuple[Floats, int]:
    """Columns x with Ax = ``target``; ``near`` solves a system near to that of A."""
    x, left = np.zeros_like(target), target.copy()
    scaled = near(left)
    ahead, slope, enough = scaled.copy(), _dots(left, scaled), tol**2 * _dots(left, left)
    for i in range(most):
        if (_dots(left, left) <= enough).all():
            return x, i
        products = times(ahead)
        length = _dots(ahead, products)
        step = slope / np.where(length > 0, length, 1.0)
        x += step * ahead
        left -= np.multiply(products, step, out=products)
        scaled = near(left)
        before, slope = slope, _dots(left, scaled)
        ahead *= slope / np.where(before > 0, before, 1.0)
        ahead += scaled
    return x, most


def _dots(a: Floats, b: Floats) -> Floats:
    """The product of each column with the other's."""
    return np.asarray(np.einsum("ij,ij->j", a, b))
