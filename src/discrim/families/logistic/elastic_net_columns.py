"""The elastic net on columns: descent over a working set, and the proof that no other column has a coefficient."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discrim import kernels
from discrim.block import Block
from discrim.families.logistic.elastic_net_gram import GAP, PROHIBITIVE, STEPS, Fitted, GramFollower
from discrim.families.logistic.objective import Coordinates, Objective, codes_in
from discrim.families.recipe import OneBlock, Passes
from discrim.parallel import run
from discrim.typing import Floats, Index, Mask

# Values in a group of columns that one thread multiplies at a time.
TASK = 1 << 19
# Coefficients of all classes up to which these are solved together.
TOGETHER = 400
# Classes that take turns come near more slowly than their last changes suggest.
TURNS = 1e-3
# Where a penalty falls by more than this factor at once, stops are made on the way.
LONGEST = 0.6
LOOSE = 1e-6
# A penalty that only says that a coefficient must be zero.
BARRED = 1e100
# Rounds that one class gets before it is the others' turn, and the turns of each class that make a step.
TURN, TURNS_A_STEP = 3, 10


class Columns:
    """The columns of a matrix as coordinate descent reads them; their coefficients are those of ``coordinates``.

    Dense columns are copied, centred and scaled, and lie one behind the other. Sparse ones stay as they are: centring
    is left to the descent, which keeps zeros zero. ``gap`` is how far the value per unit of weight may still fall by
    the last change of one coefficient, where a descent stops. Read by this thread ``alone``, or by all.
    """

    def __init__(self, x: Any, coordinates: Coordinates, *, alone: bool) -> None:
        self.shape = n, p = x.shape
        dense = isinstance(x, np.ndarray)
        # Sparse columns are nearly orthogonal, so that their last changes are about all that was left.
        self.gap = 1e-16 if dense else 1e-11
        self.coordinates = coordinates if dense else Coordinates(np.zeros(p), np.ones(p), coordinates.intercept)
        self._x: Any
        self._slopes: Callable[..., None]
        self.descent: Callable[..., tuple[float, int, int, bool]]
        if dense:
            self._x = np.empty(self.shape, order="F")
            self._groups = _groups(np.arange(p + 1) * n, alone=alone)
            run(lambda i: self._standardise(x, *self._groups[i]), len(self._groups))
            self._slopes, self.descent = partial(kernels.dense_slopes, self._x), partial(kernels.dense_descent, self._x)
        else:
            self._x = sparse.csc_array(x)
            self._groups = _groups(self._x.indptr, alone=alone)
            parts = (self._x.data, self._x.indices, self._x.indptr)
            self._slopes = partial(kernels.sparse_slopes, *parts)
            self.descent = partial(kernels.sparse_descent, *parts)

    def _standardise(self, x: NDArray[Any], begin: int, end: int) -> None:
        part = self._x[:, begin:end]
        np.subtract(x[:, begin:end], self.coordinates.shift[begin:end], out=part)
        part /= self.coordinates.scale[begin:end]

    def slopes(self, residual: Floats) -> Floats:
        """X'r, on all threads."""
        out = np.empty(self.shape[1])
        run(lambda i: self._slopes(residual, *self._groups[i], out), len(self._groups))
        return out

    def times(self, some: Index, theta: Floats) -> Floats:
        """These columns times theta."""
        return np.asarray(self._x[:, some] @ theta)

    def dense(self, some: Index) -> Floats:
        """These columns, written out."""
        part = self._x[:, some]
        return np.asarray(part if isinstance(part, np.ndarray) else part.toarray(), dtype=float)


def _groups(first: NDArray[Any], *, alone: bool) -> list[tuple[int, int]]:
    """Ranges of neighbouring columns with about TASK values each; the entries of column j begin at first[j]."""
    wanted = 1 if alone else max(int(first[-1]) // TASK, 1)
    cuts = np.searchsorted(first, np.linspace(0, first[-1], wanted + 1)[1:-1])
    bounds = np.unique(np.concatenate([[0], cuts, [len(first) - 1]]))
    return list(pairwise(bounds.tolist()))


class ColumnFollower:
    """Minima for one penalty after another, each from the last, by descent over a working set of columns.

    Given the gradient g at the last penalty, a column with |g_j| < 2 lasso_j - (last lasso_j) will hardly enter: it
    is left out until a look at all columns shows that it must (the sequential strong rule, with its check). The first
    guess follows the line through the last two minima. For K classes each gets its turn: given the others, class k is
    a binary problem with the offset -log sum exp of theirs.
    """

    solver = "coordinate-columns"

    def __init__(
        self,
        rows: Passes,
        classes: NDArray[Any],
        coordinates: Coordinates,
        usable: Mask,
        *,
        gap: float | None,
        constant: Floats | None,
    ) -> None:
        block = rows.whole if rows.whole is not None else rows.block()
        self.columns = Columns(block.x, coordinates, alone=isinstance(rows, OneBlock))
        self.softmax, self.intercept, self._usable = len(classes) > 2, coordinates.intercept, usable
        # Shares of the classes, K x n; for two classes of the second one, 1 x n.
        self.y, self.weight = _shares(block, classes), block.weight
        self.total = float(len(block)) if block.weight is None else float(block.weight.sum())
        self.gap = self.columns.gap if gap is None else gap
        self.theta = np.zeros((len(self.y), self.columns.shape[1]))
        self.constant = np.zeros(len(self.y)) + (0.0 if constant is None or not self.intercept else constant)
        self.eta = np.zeros(self.y.shape) + (0.0 if block.offset is None else block.offset)
        self.eta += self.constant[:, None]
        self.passes = 0
        self.loss = np.nan
        self._last: tuple[float, Floats, Floats, Floats] | None = None
        self._level = np.nan
        self._lasso: Floats | None = None
        nothing = np.zeros(self.theta.shape, dtype=bool)
        self._descend(nothing, self.theta, self.theta, self.gap, STEPS)
        self._slopes = self._look()

    @property
    def slopes(self) -> Floats:
        """Minus the gradient of the loss for the user's slopes, p or K x p."""
        slopes = np.where(self._usable, self._slopes * self.columns.coordinates.scale, 0.0)
        return slopes if self.softmax else slopes[0]

    def settle(self) -> None:
        """The constant is profiled out: it is at its minimum already."""

    def solve(self, lasso: Floats, ridge: Floats, most: int = STEPS) -> Fitted:
        """As ``GramFollower.solve``. A step is a reweighting of the rows.

        ``most`` of them are made between two looks at all columns, of which there are as many at most.
        """
        coordinates, before = self.columns.coordinates, self.passes
        barred = np.where(self._usable, np.atleast_2d(lasso) / coordinates.scale, PROHIBITIVE)
        converged = self._solve(barred, np.atleast_2d(ridge) / coordinates.scale**2, most)
        theta = coordinates.to_user(np.column_stack([self.constant, self.theta]) if self.intercept else self.theta)
        if self.softmax and self.intercept:
            theta[:, 0] -= theta[:, 0].mean()
        return Fitted(theta if self.softmax else theta[0], self.loss, min(self.passes - before, most), converged)

    def follow(self, penalties: Iterable[tuple[Floats, Floats]]) -> Iterator[Fitted]:
        """The minima for these falling penalties, one after another."""
        return (self.solve(lasso, ridge) for lasso, ridge in penalties)

    def _solve(self, lasso: Floats, ridge: Floats, most: int) -> bool:
        """Go to the minimum for this penalty (K x p, of the columns' coefficients); whether it was reached."""
        level = float(np.sum(lasso, where=lasso < BARRED) + ridge.sum())
        old, before = self._lasso, self._level
        if old is None:
            # The least multiple of this penalty for which there are no slopes.
            multiple = float(np.max(np.abs(self._slopes) / np.where(lasso > 0, lasso, np.inf), initial=1.0))
            old, before = multiple * lasso, multiple * level
        ratio = level / before if before > 0 else 1.0
        stops = int(np.ceil(np.log(ratio) / np.log(LONGEST))) if 0.0 < ratio < LONGEST and lasso.any() else 1
        for stop in range(1, stops if most else 1):
            between = np.where(old > 0, old * (lasso / np.where(old > 0, old, 1.0)) ** (stop / stops), lasso)
            self._reach(between, ridge, before * ratio ** (stop / stops), LOOSE, most)
        return self._reach(lasso, ridge, level, self.gap, most)

    def _reach(self, lasso: Floats, ridge: Floats, level: float, gap: float, most: int) -> bool:
        expected = lasso if self._lasso is None else 2.0 * lasso - self._lasso
        working = (np.abs(self._slopes) >= expected) | (self.theta != 0)
        if not lasso.all():
            working |= lasso == 0
        self._extrapolate(level)
        self._lasso = lasso
        for _ in range(most):
            converged = self._descend(working, lasso, ridge, gap, most)
            self._slopes = self._look()
            wrong = np.abs(self._slopes) > lasso * (1.0 + 1e-9)
            wrong &= ~working
            if not wrong.any():
                return converged
            working |= wrong
        return False

    def _extrapolate(self, level: float) -> None:
        """Go on along the line through the last two minima, as far as no coefficient changes its sign."""
        here = (self._level, self.theta.copy(), self.constant.copy(), self.eta.copy())
        if self._last is not None:
            before, theta, constant, eta = self._last
            part = (
                np.log(self._level / level) / np.log(before / self._level) if before > self._level > level > 0 else 0.0
            )
            if 0.3 < part < 1.5:
                self.eta += part * (self.eta - eta)
                self.constant = self.constant + part * (self.constant - constant)
                for k in range(len(theta)):
                    # Most columns have no coefficient: only those that moved are looked at.
                    some = np.flatnonzero(self.theta[k] != theta[k])
                    now, old = self.theta[k, some], theta[k, some]
                    step = part * (now - old)
                    stays = (old == 0) | (np.sign(now + step) != np.sign(now))
                    if stays.any():
                        self.eta[k] -= self.columns.times(some[stays], step[stays])
                    self.theta[k, some] = np.where(stays, now, now + step)
        self._last, self._level = here if np.isfinite(here[0]) else None, level

    def _descend(self, working: Mask, lasso: Floats, ridge: Floats, gap: float, most: int) -> bool:
        """Turns of the classes until none has anything to do; few coefficients are solved all at once."""
        some = np.flatnonzero(working.any(axis=0))
        if self.softmax and len(working) * (len(some) + 1) <= TOGETHER:
            return self._solve_together(some, working, lasso, ridge, gap, most)
        close, places = gap * self.total, [np.flatnonzero(row) for row in working]
        if self.softmax:
            close *= TURNS
        for _ in range(TURNS_A_STEP * most):
            quiet = True
            for k, some in enumerate(places):
                theta, others = self.theta[k, some], self._others(k)
                eta = self.eta[k] - others
                state = (eta, theta, self.constant[k : k + 1])
                problem = (some, lasso[k, some], ridge[k, some], self.intercept, close, TURN if self.softmax else most)
                self.loss, rounds, _, converged = self.columns.descent(self.y[k], self.weight, *state, *problem)
                self.theta[k, some], self.eta[k] = theta, eta + others
                quiet = quiet and converged and (rounds == 1 or not self.softmax)
            if quiet or not self.softmax:
                return quiet
        return False

    def _solve_together(self, some: Index, working: Mask, lasso: Floats, ridge: Floats, gap: float, most: int) -> bool:
        """All classes at once, on the sums of these columns: their curvature knows how classes pull at each other."""
        classes, first = len(working), int(self.intercept)
        x, codes = self.columns.dense(some), self.y.argmax(axis=0).astype(np.int32)
        block = Block(x, codes, np.arange(classes), self.weight)
        as_they_are = Coordinates(np.zeros(len(some)), np.ones(len(some)), self.intercept)
        objective = Objective(OneBlock(block), block.classes, as_they_are, softmax=True)

        def beside(constant: Any, slopes: Any) -> Any:
            return np.column_stack([np.broadcast_to(constant, classes), slopes]) if first else slopes

        # The same constant added to all classes changes nothing.
        free = beside(np.arange(classes) > 0, working[:, some]).astype(bool)
        start, none = beside(self.constant, self.theta[:, some]), np.zeros(classes)
        close = min(gap, GAP) if gap < LOOSE else gap
        follower = GramFollower(objective, start, free=free, gap=close)
        found = follower.minimum(beside(none, lasso[:, some]), beside(none, ridge[:, some]), most)
        self.theta[:, some] = found.theta[:, first:]
        self.constant = found.theta[:, 0].copy() if first else self.constant
        self.eta = self.constant[:, None] + self.theta[:, some] @ x.T
        return found.converged

    def _others(self, k: int) -> Floats | float:
        """log sum exp of the other classes' predictors."""
        if not self.softmax:
            return 0.0
        rest = np.delete(self.eta, k, axis=0)
        top = rest.max(axis=0)
        return np.asarray(top + np.log(np.exp(rest - top).sum(axis=0)))

    def _look(self) -> Floats:
        """X'w(y - mu) of all columns, K x p."""
        self.passes += 1
        y, weight = self.y, self.weight
        residual = np.empty_like(self.eta)
        if self.softmax:
            top = self.eta.max(axis=0)
            log_sum = top + np.log(np.exp(self.eta - top).sum(axis=0))
            losses = log_sum - (y * self.eta).sum(axis=0)
            self.loss = float(losses.sum() if weight is None else losses @ weight)
            residual[:] = (y - np.exp(self.eta - log_sum)) * (1.0 if weight is None else weight)
        else:
            self.loss = kernels.residuals(y[0], weight, self.eta[0], residual[0])
        # With a constant the residuals sum to zero, so that the columns' means play no part.
        return np.stack([self.columns.slopes(row) for row in residual])


def _shares(block: Block, classes: NDArray[Any]) -> Floats:
    codes = codes_in(block, classes)
    if len(classes) > 2:
        return np.asarray(codes == np.arange(len(classes))[:, None], dtype=float)
    return np.ascontiguousarray(((codes == 1).astype(float) if block.share is None else block.share)[None])
