"""The grid of regularised discriminant analysis, of which LDA and QDA with shrinkage are edges.

    Sigma_k(alpha) = alpha Sigma_k + (1 - alpha) Sigma
    Sigma_k(alpha, gamma) = gamma Sigma_k(alpha) + (1 - gamma) T_k

with T_k = (tr Sigma_k(alpha)/p) I (target "identity") or diag Sigma_k(alpha) (target "diagonal").
For fixed (k, alpha) there is a basis in which the matrix and its target are both diagonal, so that one
eigendecomposition serves every gamma.

Without row x of class g (d = x - mu_g, rho = n_g/(n_g - 1)) the matrix of class k is A - c d d' with

    A = alpha S_k/nu_k + (1 - alpha) S/nu,   c = rho [1{k=g} alpha/nu_k + (1 - alpha)/nu],

where nu_k and nu are the divisors after the removal. A depends on the row only through "own class or not", so at most
2K eigendecompositions serve an alpha; in the basis of A shrinkage is diagonal,

    Q = gamma diag(a) + (1 - gamma) t,   t = (tr A - c |d|^2)/p,

and the shrunk matrix is Q - gamma c y y' with y the rotated d.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.errors import ParameterError
from discrim.families.gaussian.covariance import Normalization, Target
from discrim.families.gaussian.leave_one_out import (
    divisors_or_nan,
    least_left,
    log_priors_without,
    rho_of,
    tolerance,
    with_vanished,
)
from discrim.families.recipe import Grid, Losses, Reduction, Shape, row_losses
from discrim.statistics import ClassMoments, Depth, MomentsOf
from discrim.typing import Floats

Names = Literal["alpha, gamma", "shrinkage"]

# The values tried where a parameter is to be chosen.
DEFAULT_VALUES = np.linspace(0.0, 1.0, 11)
# Numbers held at once while scoring, and while leaving out rows: small enough to stay in the second-level cache.
_BUDGET = 1 << 18
_LEFT_OUT_BUDGET = 1 << 14
# The matrices of a class: without a row of its own, without one of another class, without the only one of another.
_OWN, _OTHER, _VANISHED = 0, 1, 2


@dataclass(frozen=True, eq=False)
class GaussianGrid(Grid):
    """alphas x gammas, from one eigendecomposition a class and alpha.

    ``names`` says what a setting is called: alpha and gamma, or the shrinkage 1 - gamma. ``n_columns`` is the original
    number of columns p0 where rows were rotated into p <= p0 dimensions; only the identity target survives that.
    """

    no_setting: ClassVar[str] = (
        "No setting of alpha and gamma gives every class a covariance matrix with an inverse in every "
        "training part. Add values of gamma below 1 to the grid (for example 0.5), use "
        "target='identity' if a column is constant, or use fewer folds."
    )

    alphas: Floats
    gammas: Floats
    target: Target = "identity"
    normalization: Normalization = "mle"
    priors: Floats | None = None
    names: Names = "alpha, gamma"
    n_columns: int | None = None

    @property
    def settings(self) -> list[dict[str, Any]]:
        if self.names == "shrinkage":
            return [{"shrinkage": float(1.0 - gamma)} for gamma in self.gammas]
        return [{"alpha": float(alpha), "gamma": float(gamma)} for alpha in self.alphas for gamma in self.gammas]

    @property
    def reduction(self) -> Reduction[ClassMoments]:
        return MomentsOf(Depth.FULL)

    def impossible(self, shape: Shape) -> str:
        if shape.wide and self.target == "diagonal":
            return (
                "With more columns than rows only the target 'identity' can be tuned; set target='identity', "
                "or give numbers for the shrinkage."
            )
        return ""

    @property
    def rotation_invariant(self) -> bool:
        return self.target == "identity"

    def losses(self, statistic: ClassMoments, shape: Shape, block: Block) -> Iterator[Losses]:
        with np.errstate(divide="ignore"):
            logs = np.log(statistic.weight / statistic.weight.sum() if self.priors is None else self.priors)
        grid, width = replace(self, n_columns=shape.spanned_from), len(self.gammas)
        for alphas, rows, scores in grid.scores(statistic, block.dense(), logs):
            wrong, loss = row_losses(scores, block.codes[rows])
            flat = slice(alphas.start * width, min(alphas.stop, len(self.alphas)) * width)
            yield flat, rows, wrong.reshape(-1, wrong.shape[-1]), loss.reshape(-1, loss.shape[-1])

    def left_out(self, block: Block, shape: Shape) -> Mapping[str, Floats]:
        """The standard error is that of n folds of one row. A setting with a NaN score for any row is NaN."""
        if block.weight is not None or not self.has_closed_form:
            raise ParameterError(
                "'loo' needs rows without weights and the target 'identity'; use 'cv', which needs neither."
            )
        grid, whole = replace(self, n_columns=shape.spanned_from), ClassMoments.of(block, Depth.FULL)
        error, log_loss = [], []
        for scores in grid.scores_without_each(block, whole):
            undefined = np.isnan(scores).any(axis=(0, 2))
            wrong, loss = row_losses(scores[None], block.codes)
            error.append(np.where(undefined, np.nan, wrong[0].mean(axis=-1)))
            log_loss.append(np.where(undefined, np.nan, loss[0].mean(axis=-1)))
        mean = np.concatenate(error)
        std_error = np.sqrt(mean * (1.0 - mean) / max(len(block) - 1, 1))
        return {"mean_error": mean, "std_error": std_error, "mean_log_loss": np.concatenate(log_loss)}

    def results(self, table: Mapping[str, Floats], best: int) -> dict[str, Any]:
        shape = len(self.alphas), len(self.gammas)
        a, g = divmod(best, shape[1])
        surfaces = {name: values.reshape(shape) for name, values in table.items()}
        chosen = {"alpha": float(self.alphas[a]), "gamma": float(self.gammas[g])}
        return {"alphas": self.alphas, "gammas": self.gammas, **surfaces, **chosen}

    @property
    def has_closed_form(self) -> bool:
        """The diagonal target changes with a removed row by a diagonal matrix, which is no rank-one change."""
        return self.target == "identity" or bool((self.gammas == 1.0).all())

    def scores(self, s: ClassMoments, x: NDArray[Any], log_priors: Floats) -> Iterator[tuple[slice, slice, Floats]]:
        """Scores piece by piece: slices of alphas and of rows, and (a, K, G, rows) scores, up to a constant of the row,

            score_k = log pi_k - (D_k + log|Sigma_k|)/2,   D_k = (x - mu_k)' Sigma_k^-1 (x - mu_k).

        A class without weight scores -inf. A setting in which the matrix of some class is singular or undefined
        scores NaN throughout. As in a fit, columns without variance within classes are lost for alpha < 1.
        O(A K (p^3 + n p^2 + n p G)).
        """
        means, scatter, x, lost = self._with_variance(s, x)
        (n, p), classes = x.shape, len(s.weight)
        per_class = max(_BUDGET // classes, 1)
        step = min(max(per_class // (p * p), 1), len(self.alphas))
        n_rows = max(per_class // (step * max(p, len(self.gammas))), 64)
        absent = s.weight <= 0.0
        deviations = x.T - means[:, :, None]
        own, pooled = divisors_or_nan(s.weight, self.normalization)
        for first in range(0, len(self.alphas), step):
            alphas = slice(first, first + step)
            sigma = np.stack([_mix(scatter, own, pooled, a) for a in self.alphas[alphas]])
            parts = [(cols, of.basis, *self._inverses(of, cols, absent)) for cols, of in self._bases(sigma)]
            for start in range(0, n, n_rows):
                rows = slice(start, min(start + n_rows, n))
                scores = np.empty((len(sigma), classes, len(self.gammas), rows.stop - start))
                for cols, basis, inverse, log_det in parts:
                    rotated = basis @ deviations[:, :, rows]
                    scores[:, :, cols] = inverse @ np.square(rotated, out=rotated)
                    scores[:, :, cols] += (log_det - 2.0 * log_priors[:, None])[..., None]
                scores *= -0.5
                scores[:, absent] = np.where(np.isnan(scores[:, absent]), np.nan, -np.inf)
                if lost:
                    scores[self.alphas[alphas] == 1.0] = np.nan
                yield alphas, rows, scores

    def _with_variance(self, s: ClassMoments, x: NDArray[Any]) -> tuple[Floats, Floats, NDArray[Any], bool]:
        """Means, scatters and rows without the columns that have none within classes; whether there are such.

        Only the diagonal target needs one of each: the other gives every direction its own.
        """
        varies = np.diagonal(s.scatter.sum(axis=0)) > 0.0
        if self.target == "identity" or varies.all() or not varies.any():
            return s.mean, s.scatter, x, False
        return s.mean[:, varies], s.scatter[:, varies][:, :, varies], x[:, varies], True

    def scores_without_each(self, block: Block, s: ClassMoments) -> Iterator[Floats]:
        """For each alpha the scores (K, G, n) of the rule without each row, with e = y'Q^-1 y,

            f = 1 - gamma c e,   log|Sigma_k| = log|Q| + log f,
            D_k = z'Q^-1 z + gamma c (z'Q^-1 y)^2/f   with z the rotated x - mu_k,   D_g = rho^2 e/f.

        Rows rotated into p < p0 dimensions add (p0 - p) log((1 - gamma) t). Priors, vanishing classes and NaN as in
        ``leave_one_out``. O(K p^3 + n K p^2 + n K p G) for each alpha.
        """
        x, codes = np.asarray(block.dense(), dtype=np.float64), block.codes
        rho = rho_of(s.weight)[codes]
        deviation = x - s.mean[codes]
        logs = log_priors_without(s.weight, self.priors)[codes].T[:, None]
        alone, size = s.weight[codes] <= 1.0, max(_LEFT_OUT_BUDGET // x.shape[1], 64)
        for alpha in self.alphas:
            rates, parts = self._matrices_without(s, float(alpha))
            scores = np.empty((len(s.weight), len(self.gammas), len(codes)))
            for k, mean in enumerate(s.mean):
                kinds = np.where(alone, _VANISHED, np.where(codes == k, _OWN, _OTHER))
                for kind in (_OWN, _OTHER, _VANISHED):
                    rows = np.flatnonzero(kinds == kind)
                    for at in (rows[start : start + size] for start in range(0, len(rows), size)):
                        others = None if kind == _OWN else x[at] - mean
                        removal = _Removal(deviation[at], others, rho[at], float(rates[kind, k]))
                        for cols, of in parts:
                            matrix = Spectra(*(part[kind, k] for part in of))
                            scores[k][np.ix_(cols, at)] = self._scores_of(matrix, removal, self.gammas[cols])
            yield with_vanished(scores + logs, np.broadcast_to(logs, scores.shape))

    def _matrices_without(self, s: ClassMoments, alpha: float) -> tuple[Floats, list[tuple[NDArray[np.intp], Spectra]]]:
        """c/rho (kind, K), and the spectra of A with leading axes (kind, K)."""
        own, pooled = divisors_or_nan(s.weight, self.normalization)
        nu_own = np.where(own > 1.0, own - 1.0, np.nan)
        nu = pooled - 1.0 if pooled > 1.0 else np.nan
        kinds = [_mix(s.scatter, nu_own, nu, alpha), _mix(s.scatter, own, nu, alpha)]
        if (s.weight == 1.0).any():
            kinds.append(_mix(s.scatter, own, nu if self.normalization == "mle" else pooled, alpha))
        rates = np.zeros((3, len(s.weight)))
        rates[: _OTHER + 1] = (1.0 - alpha) / nu if alpha < 1.0 else 0.0
        rates[_OWN] += alpha / nu_own if alpha > 0.0 else 0.0
        return rates, self._bases(np.stack(kinds))

    def _scores_of(self, matrix: Spectra, removal: _Removal, gammas: Floats) -> Floats:
        """-(D + log|Sigma|)/2 for every gamma and row, (G, rows)."""
        d, deviation, rho, rate = removal
        out, p = np.empty((len(gammas), len(d))), d.shape[1]
        # Columns lie together in memory, which sums over few columns of many rows are faster with.
        y, c = (matrix.basis @ d.T).T, rate * rho
        yy = y * y
        if deviation is not None:
            z = (matrix.basis @ deviation.T).T
            zz, zy = z * z, z * y
        # Where nothing depends on the row, Q is one row that serves all.
        level = matrix.level - c * np.einsum("np,np->n", d, d) / (self.n_columns or p) if rate else matrix.level[None]
        for g, gamma in enumerate(gammas):
            tail = (1.0 - gamma) * level if gamma < 1.0 else np.zeros(1)
            inverse, log_det, rcond = _inverted((gamma * matrix.values[:, None] + tail).T, tail, self.n_columns)
            e = _dot(inverse, yy)
            f = 1.0 - gamma * c * e
            f = np.where(f > least_left(p, rcond), f, np.nan)
            if deviation is None:
                distance = rho**2 * e / f
            else:
                distance = _dot(inverse, zz) + gamma * c * np.square(_dot(inverse, zy)) / f
            out[g] = -0.5 * (distance + log_det + np.log(f) + matrix.offset)
        return out

    def _bases(self, sigma: Floats) -> list[tuple[NDArray[np.intp], Spectra]]:
        """Which gammas (by position) to score in which basis of the class matrices ``sigma``."""
        every = np.arange(len(self.gammas))
        p = sigma.shape[-1]
        spectra = _spectra(sigma, self.target, self.n_columns or p)
        pure = self.gammas == 1.0
        smallest = spectra.values.min(axis=-1)
        ill = smallest < 1e-8 * spectra.values.max(axis=-1)
        if self.target == "diagonal" or not (pure.any() and ill.any()) or (self.n_columns or p) > p:
            return [(every, spectra)]
        # At gamma = 1 no target enters, and unit variances keep the digits that unequal scales would cost.
        return [(every[~pure], spectra), (every[pure], _spectra(sigma, "diagonal", p))]

    def _inverses(self, of: Spectra, cols: NDArray[np.intp], absent: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Inverse eigenvalues (a, K, G, p) and log-determinants (a, K, G); NaN where those of some class are."""
        gammas = self.gammas[cols]
        tail = (1.0 - gammas) * of.level[..., None]
        q = gammas[:, None] * of.values[..., None, :] + tail[..., None]
        inverse, log_det, _ = _inverted(q, tail, self.n_columns)
        log_det += of.offset[..., None]
        log_det[:, absent] = 0.0
        infeasible = np.isnan(log_det).any(axis=1, keepdims=True)
        return inverse, np.where(infeasible, np.nan, log_det)


class Spectra(NamedTuple):
    """Class matrices in the bases where they and their targets are diagonal; leading axes (A, K).

    With B = ``basis``, B Sigma B' = diag(``values``) and B T B' = ``level`` I, and log|Sigma| is the
    sum of log ``values`` plus ``offset``. An offset of NaN marks a matrix that is not defined.
    """

    basis: Floats
    values: Floats
    level: Floats
    offset: Floats


class _Removal(NamedTuple):
    """Rows that are removed one at a time from a matrix A - rate rho d d'; ``deviation`` is None for the own class."""

    d: Floats
    deviation: Floats | None
    rho: Floats
    rate: float


def _mix(scatter: Floats, own: Floats, pooled: Any, alpha: float) -> Floats:
    """alpha S_k/own_k + (1 - alpha) S/pooled; a part with factor 0 need not be defined."""
    if alpha == 0.0:
        return np.broadcast_to(scatter.sum(axis=0) / pooled, scatter.shape).copy()
    out: Floats = scatter * (alpha / own)[:, None, None]
    if alpha != 1.0:
        out += scatter.sum(axis=0) * ((1.0 - alpha) / pooled)
    return out


def _spectra(sigma: Floats, target: Target, n_columns: int) -> Spectra:
    """Eigenvectors as rows of the basis; for the diagonal target those of the columns with unit variance."""
    undefined = np.asarray(~np.isfinite(sigma).all(axis=(-2, -1)))
    if undefined.any():  # LAPACK needs numbers
        sigma = np.where(undefined[..., None, None], np.eye(sigma.shape[-1]), sigma)
    offset = np.where(undefined, np.nan, 0.0)
    if target == "identity":
        values, vectors = _eigh(sigma)
        level = np.trace(sigma, axis1=-2, axis2=-1) / n_columns
        return Spectra(np.swapaxes(vectors, -1, -2), values, level, offset)
    variance = np.diagonal(sigma, axis1=-2, axis2=-1)
    constant = variance <= 0.0
    scale = np.sqrt(np.where(constant, 1.0, variance))
    offset = np.where(constant.any(axis=-1), np.nan, offset + 2.0 * np.log(scale).sum(axis=-1))
    values, vectors = _eigh(sigma / (scale[..., :, None] * scale[..., None, :]))
    return Spectra(np.swapaxes(vectors, -1, -2) / scale[..., None, :], values, np.ones(offset.shape), offset)


def _eigh(sigma: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues and vectors of stacked matrices (A, K, p, p); what all classes share is done once."""
    shared = np.asarray((sigma == sigma[:, :1]).all(axis=(1, 2, 3)))
    values, vectors = np.empty(sigma.shape[:-1]), np.empty_like(sigma)
    values[~shared], vectors[~shared] = np.linalg.eigh(sigma[~shared])
    once, vectors_once = np.linalg.eigh(sigma[shared, 0])
    values[shared], vectors[shared] = once[:, None], vectors_once[:, None]
    return values, vectors


def _inverted(q: Floats, tail: Floats, n_columns: int | None) -> tuple[Floats, Floats, Floats]:
    """Of Q = diag(q), ascending along the last axis: its inverse, log-determinant and reciprocal condition.

    In further columns, up to ``n_columns``, Q has the value ``tail``. A Q that is singular to rounding has NaN as its
    determinant.
    """
    p = q.shape[-1]
    outside = (n_columns or p) - p
    smallest, largest = q[..., 0], np.maximum(q[..., -1], tail)
    if outside:
        smallest = np.minimum(smallest, tail)
    singular = smallest <= tolerance(p) * largest
    largest = np.where(singular, 1.0, largest)
    if singular.any():
        q[singular] = 1.0
    inverse = 1.0 / q
    # Ratios lie between 1 and 1/tolerance, so that products of 16 cannot overflow: fewer logarithms.
    products = np.multiply.reduceat(inverse * largest[..., None], np.arange(0, p, 16), axis=-1)
    log_det = p * np.log(largest) - np.log(products).sum(axis=-1)
    if outside:
        log_det += outside * np.log(np.where(singular, 1.0, tail))
    log_det[singular] = np.nan
    return inverse, log_det, np.where(singular, 1.0, smallest / largest)


def _dot(inverse: Floats, products: Floats) -> Floats:
    """Row sums of the product; ``inverse`` may be a single row for all rows."""
    sums: Floats = products @ inverse[0] if len(inverse) == 1 else np.einsum("np,np->n", inverse, products)
    return sums
