"""What single rows do to a fit: residuals, leverage, Cook's distance, and the fit without each of them.

Throughout: a row has the linear predictors eta (one of two classes, K else), probabilities mu, response y, weight w;
r = w (y - mu) and W = w mu (1 - mu), for K classes w (diag(mu) - mu mu'). A = z'H^-1 z, K x K for K classes, is what
the row's own predictors would spread by. Rows are read block by block, once for each question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from discrim.block import Block
from discrim.engines import RowPasses
from discrim.errors import ParameterError, name_list
from discrim.families.logistic.objective import Coordinates, Objective, codes_in
from discrim.families.recipe import Passes, Sum
from discrim.inference.fitted import Fitted
from discrim.typing import Floats

# Rows that a check refits without, unless told which.
CHECKED = 100
# Numbers that a block's intermediate results may have at once.
MOST_NUMBERS = 1 << 20


@dataclass(frozen=True)
class _Rows:
    """The numbers above for n rows of two classes (arrays n) or K (arrays n x K)."""

    eta: Floats
    mu: Floats
    other: Floats
    y: Floats
    w: Floats

    @property
    def r(self) -> Floats:
        w = self.w if self.y.ndim == 1 else self.w[:, None]
        return np.asarray(w * (self.y - self.mu))

    @property
    def curvature(self) -> Floats:
        """W."""
        if self.y.ndim == 1:
            return np.asarray(self.w * self.mu * self.other)
        outer = self.mu[:, :, None] * self.mu[:, None, :]
        return np.asarray(self.w[:, None, None] * (self.mu[:, :, None] * np.eye(self.mu.shape[1]) - outer))


def residuals(fitted: Fitted, kind: str = "deviance") -> Floats:
    """Residuals of all rows, in their order.

    - "deviance": sign(y - mu) sqrt of the row's part of the deviance; their squares sum to it;
    - "pearson": (y - mu) sqrt(w / (mu (1 - mu)));
    - "response": y - mu;
    - "working": (y - mu) / (mu (1 - mu)), two classes only.

    Their sign is that of the modelled class. For K classes "pearson" and "response" are n x K; "deviance" has no sign.
    """
    kinds = ["deviance", "pearson", "response", *([] if fitted.softmax else ["working"])]
    if kind not in kinds:
        raise ParameterError.bad_value("kind", kind, f"one of {name_list(kinds)}")
    objective = fitted.problem("residuals()")

    def of(block: Block) -> tuple[Floats]:
        return (_residual(_look(fitted, block), kind) * (1.0 if fitted.softmax else fitted.contrasts[0, 0]),)

    return each_row(objective.rows, of, numbers=4 * len(fitted.classes))[0]


def leverage(fitted: Fitted) -> Floats:
    """The diagonal of the hat matrix, h = tr(W A): how far the fit of a row follows its own response.

    They sum to the number of parameters. Cost: n p^2, or n p^2 K^3 for K classes.
    """

    def of(block: Block) -> tuple[Floats]:
        rows = _look(fitted, block)
        return (_hat(rows, _own_spread(fitted, block)),)

    return _each(fitted, "leverage()", of)[0]


def cooks_distance(fitted: Fitted) -> Floats:
    """How far all coefficients move when the row is left out, one Newton step long: delta'H delta / parameters.

    delta = H^-1 z (1 - W A)^-1 r; for two classes this is pearson^2 h / ((1 - h)^2 parameters).
    """

    def of(block: Block) -> tuple[Floats]:
        rows, a = _look(fitted, block), _own_spread(fitted, block)
        moved = _pull(rows, a)
        size = a * moved**2 if rows.y.ndim == 1 else np.einsum("nk,nkl,nl->n", moved, a, moved)
        return (size / fitted.parameters,)

    return _each(fitted, "cooks_distance()", of)[0]


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """Every row predicted without itself, from one fit.

    eta - A (1 - W A)^-1 r is where the row's predictors go when it is taken out of the last Newton step. ``eta`` is n,
    or n x K; ``posterior`` n x K with columns as ``classes``; ``predicted`` the labels; ``error`` the share of wrong
    predictions and ``log_loss`` the mean of -log posterior of the true class, both weighted.
    """

    eta: Floats
    posterior: Floats
    predicted: NDArray[Any]
    classes: NDArray[Any]
    error: float
    log_loss: float
    leverage: Floats = field(repr=False)
    _fitted: Fitted = field(repr=False)

    def exact(self, rows: Sequence[int] | None = None) -> ExactLeaveOneOut:
        """Fit again without each of these rows: all of them, or the 100 of largest leverage where there are more.

        There the approximation is worst. Cost: a few passes for each row.
        """
        if rows is None:
            rows = np.sort(np.argsort(-self.leverage, kind="stable")[:CHECKED]).tolist()
        chosen = np.asarray(rows, dtype=np.intp).ravel()
        strange = chosen[(chosen < 0) | (chosen >= len(self.posterior))]
        if len(strange) or not len(chosen):
            found = strange[:1].tolist()
            raise ParameterError.bad_value("rows", found, f"row numbers from 0 to {len(self.posterior) - 1}")
        eta = _predictors_without(self._fitted, chosen.tolist())
        posterior = _posterior(eta)
        difference = float(np.abs(posterior - self.posterior[chosen]).max())
        return ExactLeaveOneOut(chosen, eta, posterior, difference)

    def __repr__(self) -> str:
        return f"LeaveOneOut({len(self.posterior)} rows, error={self.error:.4g}, log_loss={self.log_loss:.4g})"


@dataclass(frozen=True, eq=False)
class ExactLeaveOneOut:
    """Refits without each of ``rows``; ``difference`` is the largest by which the posteriors differ from theirs."""

    rows: NDArray[np.intp]
    eta: Floats
    posterior: Floats
    difference: float

    def __repr__(self) -> str:
        return f"ExactLeaveOneOut({len(self.rows)} refits, largest difference of a posterior {self.difference:.2g})"


def leave_one_out(fitted: Fitted) -> LeaveOneOut:
    """The closed form for all rows, in one pass. Cost: n p^2, or n p^2 K^3 for K classes."""

    def of(block: Block) -> tuple[Floats, Floats, Floats, Floats]:
        rows, a = _look(fitted, block), _own_spread(fitted, block)
        pulled = _pull(rows, a)
        change = a * pulled if rows.y.ndim == 1 else np.einsum("nkl,nl->nk", a, pulled)
        return rows.eta - change, rows.y, rows.w, _hat(rows, a)

    eta, y, w, hat = _each(fitted, "loo_", of)
    posterior = _posterior(eta)
    truth = y if y.ndim == 2 else np.column_stack([1.0 - y, y])
    best = posterior.argmax(axis=1)
    right = np.take_along_axis(truth, best[:, None], axis=1)[:, 0]
    # The loss of a row whose class got no probability at all stays finite, so that means still compare.
    losses = -(truth * np.log(np.maximum(posterior, np.finfo(float).tiny))).sum(axis=1)
    error, log_loss = float(np.average(1.0 - right, weights=w)), float(np.average(losses, weights=w))
    return LeaveOneOut(eta, posterior, fitted.classes[best], fitted.classes, error, log_loss, hat, fitted)


def _each(fitted: Fitted, purpose: str, of: Any) -> tuple[NDArray[Any], ...]:
    rows = fitted.problem(purpose).rows
    outputs = len(fitted.classes) if fitted.softmax else 1
    return each_row(rows, of, numbers=outputs * max(fitted.root.shape[1], outputs) + fitted.coordinates.size)


def _look(fitted: Fitted, block: Block) -> _Rows:
    w = np.ones(len(block)) if block.weight is None else block.weight
    codes = codes_in(block, fitted.classes)
    eta = _predictors(fitted, block, fitted.theta)
    if not fitted.softmax:
        y = (codes == 1).astype(float) if block.share is None else block.share
        return _Rows(eta, special.expit(eta), special.expit(-eta), y, w)
    mu = np.asarray(special.softmax(eta, axis=1))
    return _Rows(eta, mu, 1.0 - mu, np.eye(len(fitted.classes))[codes], w)


def _predictors(fitted: Fitted, block: Block, theta: Floats) -> Floats:
    """eta of each row at theta: n, or n x K."""
    eta = linear_parts(block, fitted.coordinates, np.atleast_2d(theta).T)
    if fitted.softmax:
        return eta
    return np.asarray(eta[:, 0] if block.offset is None else eta[:, 0] + block.offset)


def _own_spread(fitted: Fitted, block: Block) -> Floats:
    """A of each row: n, or n x K x K."""
    size, m = fitted.coordinates.size, fitted.root.shape[1]
    if not fitted.softmax:
        spread = linear_parts(block, fitted.coordinates, fitted.root)
        return np.asarray(np.einsum("nm,nm->n", spread, spread))
    roots = fitted.root.reshape(-1, size, m)
    spreads = np.stack([linear_parts(block, fitted.coordinates, root) for root in roots], axis=1)
    return np.asarray(spreads @ spreads.transpose(0, 2, 1))


def _hat(rows: _Rows, a: Floats) -> Floats:
    return np.asarray(rows.curvature * a if a.ndim == 1 else np.einsum("nkl,nlk->n", rows.curvature, a))


def _pull(rows: _Rows, a: Floats) -> Floats:
    """(1 - W A)^-1 r; infinite for a row that alone determines a coefficient."""
    if a.ndim == 1:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(rows.r / (1.0 - rows.curvature * a))
    inner = np.eye(a.shape[1]) - rows.curvature @ a
    try:
        return np.asarray(np.linalg.solve(inner, rows.r[:, :, None])[:, :, 0])
    except np.linalg.LinAlgError:
        return np.asarray((np.linalg.pinv(inner) @ rows.r[:, :, None])[:, :, 0])


def _residual(rows: _Rows, kind: str) -> Floats:
    gap = rows.y - rows.mu
    if kind == "response":
        return gap
    if kind == "working":
        return _on_odds(rows.y, _log_odds(rows.eta), 1.0) + rows.y - (1.0 - rows.y)
    if kind == "pearson":
        w = rows.w if gap.ndim == 1 else rows.w[:, None]
        return np.sqrt(w) * _on_odds(rows.y, _log_odds(rows.eta), 0.5)
    if gap.ndim == 2:
        own = (rows.y * (rows.eta - special.logsumexp(rows.eta, axis=1, keepdims=True))).sum(axis=1)
        return np.asarray(np.sqrt(-2.0 * rows.w * own))
    # log mu and log(1 - mu) from eta, so that nothing is lost where mu rounds to 0 or 1.
    fit = rows.y * special.log_expit(rows.eta) + (1.0 - rows.y) * special.log_expit(-rows.eta)
    best = special.xlogy(rows.y, rows.y) + special.xlog1py(1.0 - rows.y, -rows.y)
    return np.asarray(np.sign(gap) * np.sqrt(np.maximum(2.0 * rows.w * (best - fit), 0.0)))


def _on_odds(y: Floats, odds: Floats, power: float) -> Floats:
    """y exp(-power odds) - (1 - y) exp(power odds): with the power 1/2 that is (y - mu) / sqrt(mu (1 - mu)).

    Nothing is divided, so that it holds where mu rounds to 0 or 1; infinite where y is what had no probability.
    """
    with np.errstate(over="ignore"):
        rise, fall = np.exp(np.where(y > 0, -power * odds, 0.0)), np.exp(np.where(y < 1, power * odds, 0.0))
    return np.asarray(y * rise - (1.0 - y) * fall)


def _log_odds(eta: Floats) -> Floats:
    """log mu - log(1 - mu) of each class, to the last digit also where mu rounds to 1."""
    if eta.ndim == 1:
        return eta
    top = eta.argmax(axis=1)[:, None]
    log_mu = eta - special.logsumexp(eta, axis=1, keepdims=True)
    mu, rest = np.exp(log_mu), eta.copy()
    np.put_along_axis(mu, top, 0.0, axis=1)
    np.put_along_axis(rest, top, -np.inf, axis=1)
    odds = log_mu - np.log1p(-mu)
    best = np.take_along_axis(eta, top, axis=1) - special.logsumexp(rest, axis=1, keepdims=True)
    np.put_along_axis(odds, top, best, axis=1)
    return np.asarray(odds)


def _posterior(eta: Floats) -> Floats:
    if eta.ndim == 2:
        return np.asarray(special.softmax(eta, axis=1))
    return np.column_stack([special.expit(-eta), special.expit(eta)])


def _predictors_without(fitted: Fitted, chosen: Sequence[int]) -> Floats:
    """The predictors of each chosen row by a fit without it."""
    whole = fitted.problem("loo_.exact()")
    found = []
    for i, row in zip(chosen, take_rows(whole.rows, chosen), strict=True):
        objective = Objective(without_row(whole.rows, i), whole.classes, whole.coordinates, softmax=whole.softmax)
        theta = fitted.solve(objective, fitted.theta, fitted.free).theta
        found.append(_predictors(fitted, row, theta)[0])
    return np.array(found)


Arrays = tuple[NDArray[Any], ...]


def each_row(rows: Passes, of: Callable[[Block], Arrays], *, numbers: int = 1) -> Arrays:
    """The arrays that ``of`` gives for each block (first axis: its rows), concatenated: one pass.

    ``numbers`` is how many numbers ``of`` keeps for a row at work; blocks are cut so that these stay few.
    """
    step = max(MOST_NUMBERS // max(numbers, 1), 1)

    def parts_of(block: Block) -> list[Arrays]:
        return [of(block.rows(start, min(start + step, len(block)))) for start in range(0, len(block), step)]

    parts = rows.reduce(Sum(parts_of, _in_order, uses_blas=True))
    return tuple(np.concatenate(arrays) for arrays in zip(*parts, strict=True))


def take_rows(rows: Passes, wanted: Sequence[int]) -> list[Block]:
    """The rows of these numbers, counted from 0, each as a block of its own in the order asked for: one pass."""
    found: dict[int, Block] = {}
    first = 0
    for block in rows.blocks():
        inside = {i for i in wanted if first <= i < first + len(block)}
        found.update({i: block.rows(i - first, i - first + 1) for i in inside})
        first += len(block)
    return [found[i] for i in wanted]


def without_row(rows: Passes, left_out: int) -> Passes:
    """Passes over the same rows, of which one, counted from 0, has the weight zero."""
    return (
        rows.over(_without(rows.whole, left_out)) if rows.whole is not None else RowPasses(_WithoutRow(rows, left_out))
    )


class _WithoutRow:
    """The rows of a scan, one of them with the weight zero."""

    rereadable, labelled, whole = True, True, None

    def __init__(self, rows: Passes, left_out: int) -> None:
        self._rows, self._left_out = rows, left_out
        self.design: Any = rows.shape.columns
        self.n_rows, self.classes = rows.shape.n_rows, rows.shape.classes

    def blocks(self) -> Iterator[Block]:
        first = 0
        for block in self._rows.blocks():
            inside = first <= self._left_out < first + len(block)
            yield _without(block, self._left_out - first) if inside else block
            first += len(block)


def linear_parts(block: Block, coordinates: Coordinates, theta: Floats) -> Floats:
    """Z theta (n x m) for solver's coefficients theta (size x m), without the offset.

    Columns are centred before they are multiplied, so that a large mean costs no digits. Cost: n p m.
    """
    constant = theta[0] if coordinates.intercept else np.zeros(theta.shape[1])
    slopes = theta[1:] if coordinates.intercept else theta
    inner = slopes / coordinates.scale[:, None] if coordinates.basis is None else coordinates.basis @ slopes
    if sparse.issparse(block.x):
        return np.asarray(block.x @ inner) + (constant - coordinates.shift @ inner)
    return np.asarray((block.x - coordinates.shift) @ inner + constant)


def _in_order(parts: Sequence[list[Arrays]]) -> list[Arrays]:
    # Lists are joined, and arrays only once at the end: a long stream would else be copied again and again.
    return [arrays for part in parts for arrays in part]


def _without(block: Block, i: int) -> Block:
    weight = np.ones(len(block)) if block.weight is None else block.weight.copy()
    weight[i] = 0.0
    return replace(block, weight=weight)
