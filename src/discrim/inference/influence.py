"""What single rows do to a fit: residuals, leverage, Cook's distance, and the fit without each of them.

Throughout: a row has the linear predictors eta (one for two classes, else K), probabilities mu, response y, weight w;
r = w (y - mu) and W = w (diag(mu) - mu mu'), which is w mu (1 - mu) for two classes. A = z'H^-1 z, K x K, is the
covariance of the row's own predictors. Rows are read block by block, once for each question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
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
from discrim.inference.row_scores import Predicted, predicted
from discrim.typing import Floats

# Rows that a check refits without, unless they are given.
CHECKED = 100
# Values that the intermediate results of a block may have at once.
MOST_HELD = 1 << 20

Arrays = tuple[NDArray[Any], ...]


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

    sign = 1.0 if fitted.softmax else fitted.contrasts[0, 0]
    found = each_row(
        objective.rows, lambda block: (_residual(_look(fitted, block), kind) * sign,), size=4 * len(fitted.classes)
    )[0]
    return found[:, 0] if found.shape[1] == 1 else found


def leverage(fitted: Fitted) -> Floats:
    """The diagonal of the hat matrix, h = tr(W A): how far the fit of a row follows its own response.

    They sum to the number of parameters. Cost: n p^2, or n p^2 K^3 for K classes.
    """
    return _each(fitted, "leverage()", lambda rows, a: (_hat(rows, a),))[0]


def cooks_distance(fitted: Fitted) -> Floats:
    """How far all coefficients move when the row is left out, one Newton step long: delta'H delta / parameters.

    delta = H^-1 z (1 - W A)^-1 r; for two classes this is pearson^2 h / ((1 - h)^2 parameters).
    """

    def of(rows: Predicted, a: Floats) -> tuple[Floats]:
        moved = _pull(rows, a)
        return (np.einsum("nk,nkl,nl->n", moved, a, moved) / fitted.parameters,)

    return _each(fitted, "cooks_distance()", of)[0]


def dfbetas(fitted: Fitted) -> Floats:
    """(beta - beta without the row) / standard error for each row and reported coefficient (n x q).

    One Newton step long: H^-1 z (1 - W A)^-1 r. R's ``dfbetas`` divides it by a residual deviation as well, which a
    binomial model does not have. NaN for coefficients without a standard error.
    """

    def of(block: Block) -> tuple[Floats]:
        spreads = root_rows(fitted, block, fitted.root)
        pull = _pull(_look(fitted, block), np.einsum("nkm,nlm->nkl", spreads, spreads))
        return (np.einsum("nkm,nk->nm", spreads, pull),)

    moved = each_row(fitted.problem("dfbetas()").rows, of, size=_held(fitted))[0]
    own = fitted.spread_of(fitted.root)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(moved @ own.T / fitted.std_error)


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
        posterior = np.exp(_log_posterior(eta))
        difference = float(np.abs(posterior - self.posterior[chosen]).max())
        return ExactLeaveOneOut(chosen, eta if self.eta.ndim == 2 else eta[:, 0], posterior, difference)

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

    def of(rows: Predicted, a: Floats) -> tuple[Floats, ...]:
        return rows.eta - np.einsum("nkl,nl->nk", a, _pull(rows, a)), _truth(rows.y), rows.w, _hat(rows, a)

    eta, truth, w, hat = _each(fitted, "loo_", of)
    logs = _log_posterior(eta)
    best = logs.argmax(axis=1)
    right = np.take_along_axis(truth, best[:, None], axis=1)[:, 0]
    # The loss of a row whose class got no probability at all stays finite, so that means still compare.
    losses = -(truth * np.maximum(logs, np.log(np.finfo(float).tiny))).sum(axis=1)
    error, log_loss = float(np.average(1.0 - right, weights=w)), float(np.average(losses, weights=w))
    eta = eta if fitted.softmax else eta[:, 0]
    return LeaveOneOut(eta, np.exp(logs), fitted.classes[best], fitted.classes, error, log_loss, hat, fitted)


def _each(fitted: Fitted, purpose: str, of: Callable[[Predicted, Floats], Arrays]) -> Arrays:
    """The arrays that ``of`` makes from rows and their A."""

    def own(block: Block) -> Arrays:
        spreads = root_rows(fitted, block, fitted.root)
        return of(_look(fitted, block), np.einsum("nkm,nlm->nkl", spreads, spreads))

    return each_row(fitted.problem(purpose).rows, own, size=_held(fitted))


def _held(fitted: Fitted) -> int:
    """Values that a row needs while its own covariance is computed."""
    outputs = len(fitted.theta) if fitted.softmax else 1
    return int(outputs * max(fitted.root.shape[1], outputs) + fitted.coordinates.size)


def _look(fitted: Fitted, block: Block) -> Predicted:
    eta = linear_parts(block, fitted.coordinates, np.atleast_2d(fitted.theta).T)
    return predicted(eta, block, codes_in(block, fitted.classes))


def root_rows(fitted: Fitted, block: Block, root: Floats) -> Floats:
    """z'F of each row and class, n x K x m, for the F of a covariance F F' of theta."""
    roots = root.reshape(-1, fitted.coordinates.size, root.shape[1])
    return np.stack([linear_parts(block, fitted.coordinates, part) for part in roots], axis=1)


def _hat(rows: Predicted, a: Floats) -> Floats:
    return np.asarray(np.einsum("nkl,nlk->n", rows.curvature, a))


def _pull(rows: Predicted, a: Floats) -> Floats:
    """(1 - W A)^-1 r; infinite for a row that alone determines a coefficient."""
    r = rows.w[:, None] * rows.gap
    inner = np.eye(a.shape[1]) - np.einsum("nkl,nlm->nkm", rows.curvature, a)
    if a.shape[1] == 1:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(r / inner[:, 0])
    try:
        return np.asarray(np.linalg.solve(inner, r[:, :, None])[:, :, 0])
    except np.linalg.LinAlgError:
        return np.asarray((np.linalg.pinv(inner) @ r[:, :, None])[:, :, 0])


def _residual(rows: Predicted, kind: str) -> Floats:
    """n x K, or n x 1 for two classes and for the deviance."""
    if kind == "response":
        return rows.gap
    if kind == "working":
        return _on_odds(rows.y, rows.eta, 1.0) + rows.y - (1.0 - rows.y)
    if kind == "pearson":
        return np.sqrt(rows.w[:, None]) * _on_odds(rows.y, _log_odds(rows.eta), 0.5)
    # From log mu and log(1 - mu), so that nothing is lost where mu rounds to 0 or 1.
    truth = _truth(rows.y)
    part = (special.xlogy(truth, truth) - truth * _log_posterior(rows.eta)).sum(axis=1, keepdims=True)
    sign = np.sign(rows.gap) if rows.y.shape[1] == 1 else 1.0
    return np.asarray(sign * np.sqrt(np.maximum(2.0 * rows.w[:, None] * part, 0.0)))


def _truth(y: Floats) -> Floats:
    """The response of every class."""
    return np.hstack([1.0 - y, y]) if y.shape[1] == 1 else y


def _log_posterior(eta: Floats) -> Floats:
    """log mu of every class."""
    if eta.shape[1] == 1:
        return np.asarray(special.log_expit(np.hstack([-eta, eta])))
    return np.asarray(special.log_softmax(eta, axis=1))


def _on_odds(y: Floats, odds: Floats, power: float) -> Floats:
    """y exp(-power odds) - (1 - y) exp(power odds): with the power 1/2 that is (y - mu) / sqrt(mu (1 - mu)).

    Nothing is divided, so that it holds where mu rounds to 0 or 1; infinite where y is what had no probability.
    """
    with np.errstate(over="ignore"):
        rise, fall = np.exp(np.where(y > 0, -power * odds, 0.0)), np.exp(np.where(y < 1, power * odds, 0.0))
    return np.asarray(y * rise - (1.0 - y) * fall)


def _log_odds(eta: Floats) -> Floats:
    """log mu - log(1 - mu) of each class, to the last digit also where mu rounds to 1."""
    if eta.shape[1] == 1:
        return eta
    others = [special.logsumexp(np.delete(eta, k, axis=1), axis=1) for k in range(eta.shape[1])]
    return np.asarray(eta - np.column_stack(others))


def _predictors_without(fitted: Fitted, chosen: Sequence[int]) -> Floats:
    """The predictors of each chosen row by a fit without it."""
    whole = fitted.problem("loo_.exact()")
    found = []
    for i, row in zip(chosen, take_rows(whole.rows, chosen), strict=True):
        objective = Objective(without_row(whole.rows, i), whole.classes, whole.coordinates, softmax=whole.softmax)
        without = replace(fitted, solution=fitted.solve(objective, fitted.theta, fitted.free))
        found.append(_look(without, row).eta[0])
    return np.array(found)


def each_row(rows: Passes, of: Callable[[Block], Arrays], *, size: int = 1) -> Arrays:
    """The arrays that ``of`` gives for each block (first axis: its rows), concatenated: one pass.

    ``size`` is how many values ``of`` holds for a row while it works; blocks are cut so that these stay few.
    """
    step = max(MOST_HELD // max(size, 1), 1)

    def parts_of(block: Block) -> list[Arrays]:
        return [of(block.rows(start, min(start + step, len(block)))) for start in range(0, len(block), step)]

    # Lists are joined, and arrays only once at the end: a long stream would else be copied again and again.
    parts = rows.reduce(Sum(parts_of, lambda parts: list(chain.from_iterable(parts)), uses_blas=True))
    return tuple(np.concatenate(arrays) for arrays in zip(*parts, strict=True))


def take_rows(rows: Passes, wanted: Sequence[int]) -> list[Block]:
    """These rows, counted from 0, each as a block of its own in the given order: one pass."""
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


def _without(block: Block, i: int) -> Block:
    weight = np.ones(len(block)) if block.weight is None else block.weight.copy()
    weight[i] = 0.0
    return replace(block, weight=weight)
