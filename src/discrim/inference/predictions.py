"""What a logistic fit predicts, with standard errors: probabilities of rows, and average marginal effects of columns.

Standard errors are those of the delta method: for a function f of theta with gradient g, sqrt(g' F F' g), where F F' is
the covariance of theta. Rows and gradients are in the solver's coordinates, so that large means cost no digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from discrim.block import Block
from discrim.engines import RowPasses
from discrim.errors import ParameterError
from discrim.families.logistic.objective import solver_rows
from discrim.inference.conjugate import tails
from discrim.inference.covariance import StandardErrors
from discrim.inference.discriminant import coefficient_table
from discrim.inference.fitted import Fitted
from discrim.inference.influence import MOST_HELD, each_row, linear_parts, root_rows
from discrim.inference.intervals import refuse_after_choice
from discrim.inference.row_scores import predicted
from discrim.inference.summary import Table
from discrim.sources import Rows
from discrim.typing import Floats


@dataclass(frozen=True, eq=False)
class Predictions:
    """Probabilities of rows with their standard errors and intervals.

    Of two classes all arrays have one number a row, for the second class; of K classes they are n x K, columns as
    ``classes``. ``link`` are the log-odds (of a class against all others) and ``link_std_error`` their standard errors;
    intervals are link -+ z standard errors, brought back to probabilities.
    """

    classes: NDArray[Any]
    probability: Floats
    std_error: Floats
    lower: Floats
    upper: Floats
    link: Floats
    link_std_error: Floats
    level: float
    remark: str = ""

    def table(self) -> Table:
        names = ["link", "link_std_error", "probability", "std_error", "lower", "upper"]
        arrays = [getattr(self, name) for name in names]
        if self.probability.ndim == 1:
            columns, values = names, np.column_stack(arrays)
        else:
            columns = [f"{label}:{name}" for label in self.classes for name in names]
            values = np.stack(arrays, axis=2).reshape(len(self.probability), -1)
        title = f"Predictions with intervals of level {self.level:g}"
        return Table(title, [str(i) for i in range(len(values))], columns, values, remark=self.remark)

    def to_frame(self) -> Any:
        """A data frame of pandas, a row for each row."""
        return self.table().to_frame().reset_index(drop=True)

    def __len__(self) -> int:
        return len(self.probability)

    def __repr__(self) -> str:
        return str(self.table())


def predictions(
    fitted: Fitted, errors: StandardErrors, rows: Rows, log_posterior: Floats, level: float = 0.95
) -> Predictions:
    """Of rows whose log posteriors are known, in one pass over them."""
    upper = tails(level)[1]
    check_determined(fitted, "predict_interval()")
    # The log of the odds against all other classes, exact where probabilities round to 0 or 1.
    others = [special.logsumexp(np.delete(log_posterior, k, axis=1), axis=1) for k in range(log_posterior.shape[1])]
    link = log_posterior - np.column_stack(others)

    def lengths(block: Block) -> tuple[Floats]:
        s = root_rows(fitted, block, errors.root)
        if s.shape[1] == 1:
            return (np.linalg.norm(s[:, 0], axis=1, keepdims=True),)
        eta, found = linear_parts(block, fitted.coordinates, fitted.theta.T), np.empty(s.shape[:2])
        for k in range(s.shape[1]):
            # The other classes in their shares among themselves.
            share = eta.copy()
            share[:, k] = -np.inf
            rest = np.einsum("nj,njm->nm", special.softmax(share, axis=1), s)
            found[:, k] = np.linalg.norm(s[:, k] - rest, axis=1)
        return (found,)

    posterior = np.exp(log_posterior)
    error = each_row(RowPasses(rows), lengths, size=errors.root.size // fitted.coordinates.size)[0]
    if error.shape[1] == 1:
        link, posterior, error = link[:, 1], posterior[:, 1], error[:, 0]
    half = errors.quantile(upper) * error
    return Predictions(
        fitted.classes,
        posterior,
        posterior * special.expit(-link) * error,
        special.expit(link - half),
        special.expit(link + half),
        link,
        error,
        level,
        fitted.caveat,
    )


def check_determined(fitted: Fitted, purpose: str) -> None:
    """Refuse where estimates have no standard errors."""
    refuse_after_choice(fitted, purpose)
    if fitted.infinite_estimates:
        raise ParameterError(
            f"{purpose} has no answer: the classes are separated, so that estimates are infinite and their standard "
            "errors unknown. Fit with bias_reduction='firth'."
        )


def marginal_effects(fitted: Fitted, errors: StandardErrors, at: str = "overall", level: float = 0.95) -> Table:
    """How much the probability of a class changes with one unit more of a column: d p_k / d x_j.

    "overall" is the average over the rows (weighted), "mean" the value at their mean. With p = softmax(eta) and slopes
    b, the effect is p_k (b_kj - sum_l p_l b_lj). Two classes: of the second; K classes: of each. Cost: one pass.
    """
    if not (isinstance(at, str) and at in ("overall", "mean")):
        raise ParameterError.bad_value("at", at, "'overall' or 'mean'")
    upper = tails(level)[1]
    check_determined(fitted, "marginal_effects()")
    size, K = fitted.coordinates.size, len(fitted.classes)
    theta, root = np.atleast_2d(fitted.theta), errors.root.reshape(-1, size, errors.root.shape[1])
    if len(theta) == 1:  # two classes: the first has no coefficients
        theta, root = np.vstack([np.zeros(size), theta]), np.concatenate([np.zeros_like(root), root])
    slopes_of = fitted.coordinates.matrix()[1:]
    b = theta @ slopes_of.T
    moments = _moments(fitted, theta, mean=at == "mean")
    effect, spread = _effects(moments, b, slopes_of, root)
    shown = [1] if K == 2 else range(K)
    estimate = np.concatenate([effect[k] for k in shown])
    error = np.linalg.norm(np.concatenate([spread[k] for k in shown]), axis=1)
    lost = np.tile(fitted.aliased[1:], len(shown))
    estimate, error = np.where(lost, np.nan, estimate), np.where(lost, np.nan, error)
    statistic, p_value = coefficient_table(estimate, error, errors.df)
    half = errors.quantile(upper) * error
    letter = "z" if errors.df is None else "t"
    names = list(fitted.names) if K == 2 else [f"{fitted.classes[k]}:{name}" for k in shown for name in fitted.names]
    columns = ["dy/dx", "Std. Error", f"{letter} value", f"Pr(>|{letter}|)", "lower", "upper"]
    of = f"of class '{fitted.classes[1]}'" if K == 2 else "of each class"
    title = (
        f"Marginal effects on the probability {of}, {'average of all rows' if at == 'overall' else 'at the mean row'}"
    )
    values = np.column_stack([estimate, error, statistic, p_value, estimate - half, estimate + half])
    return Table(
        title, names, columns, values, p_columns=(columns[3],), starred=not fitted.caveat, remark=fitted.caveat
    )


def sum_of_probabilities(fitted: Fitted, errors: StandardErrors, block: Block, share: Floats) -> tuple[Floats, Floats]:
    """sum_i share_i p_ik for each class (K), and its gradient in theta times the root of the covariance (K x m)."""
    theta = np.atleast_2d(fitted.theta)
    step = max(MOST_HELD // max(len(fitted.classes) * errors.root.shape[1], 1), 1)
    total, spread = np.zeros(len(fitted.classes)), np.zeros((len(fitted.classes), errors.root.shape[1]))
    for start in range(0, len(block), step):
        part, own = block.rows(start, min(start + step, len(block))), share[start : start + step]
        s, eta = root_rows(fitted, part, errors.root), linear_parts(part, fitted.coordinates, theta.T)
        eta = eta if part.offset is None else eta + part.offset[:, None]
        if len(theta) == 1:  # two classes: the first has no coefficients
            s, eta = np.concatenate([np.zeros_like(s), s], axis=1), np.hstack([np.zeros_like(eta), eta])
        p = special.softmax(eta, axis=1)
        total += own @ p
        spread += np.einsum("n,nk,nkm->km", own, p, s - np.einsum("nk,nkm->nm", p, s)[:, None, :], optimize=True)
    return total, spread


@dataclass(frozen=True, eq=False)
class _Moments:
    """Weighted means over the rows: of V = diag(p) - p p' (K x K), of V z, and of (p p' - V)_kc p_l z for every l."""

    v: Floats
    vz: Floats
    ppz: Floats
    third: Floats


def _moments(fitted: Fitted, theta: Floats, *, mean: bool) -> _Moments:
    objective, K = fitted.problem("marginal_effects()"), len(theta)
    centre, total, shift = np.zeros(fitted.coordinates.size), 0.0, 0.0
    sums: list[Any] = [0.0, 0.0, 0.0, 0.0]
    for block in objective.rows.blocks():
        for part, z in solver_rows(block, objective.classes, fitted.coordinates, K**3):
            w = np.ones(len(z)) if part.weight is None else part.weight
            total += float(w.sum())
            if mean:
                centre += w @ z
                shift += 0.0 if part.offset is None else float(w @ part.offset)
                continue
            sums = [a + b for a, b in zip(sums, _sums(_shares(fitted, theta, z, part), z, w), strict=True)]
    if mean:
        z = (centre / total)[None]
        eta = z @ theta.T
        eta[:, -1] += shift / total  # only two classes have offsets
        sums, total = _sums(special.softmax(eta, axis=1), z, np.ones(1)), 1.0
    return _Moments(*(np.asarray(s) / total for s in sums))


def _shares(fitted: Fitted, theta: Floats, z: Floats, part: Block) -> Floats:
    if fitted.softmax:
        return np.asarray(special.softmax(z @ theta.T, axis=1))
    rows = predicted(z @ theta[1:].T, part, part.codes)
    return np.hstack([rows.other, rows.mu])


def _sums(p: Floats, z: Floats, w: Floats) -> list[Floats]:
    K = p.shape[1]
    v = np.eye(K) * p[:, :, None] - p[:, :, None] * p[:, None, :]
    pp = p[:, :, None] * p[:, None, :]
    wz = w[:, None] * z
    return [
        np.einsum("n,nkc->kc", w, v),
        np.einsum("nkc,ns->kcs", v, wz),
        np.einsum("nkc,ns->kcs", pp, wz),
        np.einsum("nkc,nl,ns->kcls", pp - v, p, wz, optimize=True),
    ]


def _effects(moments: _Moments, b: Floats, slopes_of: Floats, root: Floats) -> tuple[Floats, Floats]:
    """Effects (K x p) and their gradients times the root of the covariance (K x p x m).

    The derivative of p_k (b_kj - m_j), m_j = sum_l p_l b_lj, with respect to the coefficients of class c is
    V_kc (b_kj - m_j) z - p_k p_c (b_cj - m_j) z along the predictors, and V_kc along the slope of column j.
    """
    effect = np.einsum("kc,cj->kj", moments.v, b)
    gradient = (
        np.einsum("kcs,kj->kjcs", moments.vz, b)
        - np.einsum("kcs,cj->kjcs", moments.ppz, b)
        + np.einsum("kcls,lj->kjcs", moments.third, b)
        + np.einsum("kc,js->kjcs", moments.v, slopes_of)
    )
    return effect, np.einsum("kjcs,csm->kjm", gradient, root)
