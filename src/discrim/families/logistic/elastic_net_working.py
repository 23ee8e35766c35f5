"""Working sets: which columns may have a coefficient at the next penalty, and the proof that no other has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim import kernels
from discrim.block import Block
from discrim.families.logistic.elastic_net_columns import Columns, Problem, State
from discrim.families.logistic.elastic_net_gram import GAP, STEPS, elastic_net
from discrim.families.logistic.objective import Coordinates, Objective
from discrim.families.recipe import OneBlock
from discrim.typing import Floats, Index

# Coefficients of all classes up to which these are solved together.
TOGETHER = 400
# Classes that take turns come near more slowly than their last changes say.
TURNS = 1e-3
# Where a penalty falls by more than this factor at once, stops are made on the way.
LONGEST = 0.6
LOOSE = 1e-6
# A penalty that only says that a coefficient must be zero.
BARRED = 1e100
# Rounds that one class gets before it is the others' turn, and the turns of each class that make a step.
TURN, TURNS_A_STEP = 3, 10


@dataclass(frozen=True)
class Response:
    """``y`` K x n shares of the classes (1 x n, of the second class, for two), with the rows' weights and offsets."""

    y: Floats
    weight: Floats | None
    offset: Floats | None

    @property
    def total(self) -> float:
        return float(self.y.shape[1]) if self.weight is None else float(self.weight.sum())


class ColumnFollower:
    """Minima for one penalty after another, each from the last, by descent over a working set of columns.

    Given the gradient g at the last penalty, a column with |g_j| < 2 lasso_j - (last lasso_j) will hardly enter: it
    is left out until a look at all columns shows that it must (the sequential strong rule, with its check). The first
    guess follows the line through the last two minima. For K classes each gets its turn: given the others, class k is
    a binary problem with the offset -log sum exp of theirs.
    """

    def __init__(
        self,
        columns: Columns,
        response: Response,
        *,
        intercept: bool,
        gap: float | None = None,
        constant: Floats | None = None,
    ) -> None:
        self.columns, self.response, self.intercept = columns, response, intercept
        classes, n = response.y.shape
        self.softmax = classes > 1
        self.gap = columns.gap if gap is None else gap
        self.theta = np.zeros((classes, columns.shape[1]))
        self.constant = np.zeros(classes) + (0.0 if constant is None or not intercept else constant)
        self.eta = np.zeros((classes, n)) + (0.0 if response.offset is None else response.offset)
        self.eta += self.constant[:, None]
        self.passes = self.sweeps = 0
        self.loss = np.nan
        self._last: tuple[float, Floats, Floats, Floats] | None = None
        self._level = np.nan
        self.lasso: Floats | None = None
        nothing = np.zeros(self.theta.shape, dtype=bool)
        self._descend(nothing, self.theta, self.theta, self.gap, STEPS)
        self.slopes = self._look()

    def solve(self, lasso: Floats, ridge: Floats, most: int = STEPS) -> bool:
        """Go to the minimum for this penalty (K x p, of the columns' coefficients); whether it was reached.

        A step is a reweighting of the rows; ``most`` of them are made between two looks at all columns, of which there
        are as many at most.
        """
        level = float(np.sum(lasso, where=lasso < BARRED) + ridge.sum())
        old, before = self.lasso, self._level
        if old is None:
            # The least multiple of this penalty for which there are no slopes.
            multiple = float(np.max(np.abs(self.slopes) / np.where(lasso > 0, lasso, np.inf), initial=1.0))
            old, before = multiple * lasso, multiple * level
        ratio = level / before if before > 0 else 1.0
        stops = int(np.ceil(np.log(ratio) / np.log(LONGEST))) if 0.0 < ratio < LONGEST and lasso.any() else 1
        for stop in range(1, stops if most else 1):
            between = np.where(old > 0, old * (lasso / np.where(old > 0, old, 1.0)) ** (stop / stops), lasso)
            self._reach(between, ridge, before * ratio ** (stop / stops), LOOSE, most)
        return self._reach(lasso, ridge, level, self.gap, most)

    def _reach(self, lasso: Floats, ridge: Floats, level: float, gap: float, most: int) -> bool:
        expected = lasso if self.lasso is None else 2.0 * lasso - self.lasso
        working = (np.abs(self.slopes) >= expected) | (self.theta != 0)
        if not lasso.all():
            working |= lasso == 0
        self._extrapolate(level)
        self.lasso = lasso
        for _ in range(most):
            converged = self._descend(working, lasso, ridge, gap, most)
            self.slopes = self._look()
            wrong = np.abs(self.slopes) > lasso * (1.0 + 1e-9)
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

    def _descend(self, working: NDArray[np.bool_], lasso: Floats, ridge: Floats, gap: float, most: int) -> bool:
        """Turns of the classes until none has anything to do; few coefficients are solved all at once."""
        some = np.flatnonzero(working.any(axis=0))
        if self.softmax and len(working) * (len(some) + 1) <= TOGETHER:
            return self._solve_together(some, working, lasso, ridge, gap, most)
        close, places = gap * self.response.total, [np.flatnonzero(row) for row in working]
        if self.softmax:
            close *= TURNS
        for _ in range(TURNS_A_STEP * most):
            quiet = True
            for k, some in enumerate(places):
                theta, others = self.theta[k, some], self._others(k)
                eta = self.eta[k] - others
                problem = Problem(
                    self.response.y[k], self.response.weight, some, lasso[k, some], ridge[k, some], self.intercept
                )
                state = State(eta, theta, self.constant[k : k + 1])
                done = self.columns.descend(problem, state, close, TURN if self.softmax else most)
                self.loss, rounds, sweeps, converged = done
                self.sweeps += sweeps
                self.theta[k, some], self.eta[k] = theta, eta + others
                quiet = quiet and converged and (rounds == 1 or not self.softmax)
            if quiet or not self.softmax:
                return quiet
        return False

    def _solve_together(
        self, some: Index, working: NDArray[np.bool_], lasso: Floats, ridge: Floats, gap: float, most: int
    ) -> bool:
        """All classes at once, on the sums of these columns: their curvature knows how classes pull at each other."""
        classes, first = len(working), int(self.intercept)
        x, codes = self.columns.dense(some), self.response.y.argmax(axis=0).astype(np.int32)
        block = Block(x, codes, np.arange(classes), self.response.weight)
        as_they_are = Coordinates(np.zeros(len(some)), np.ones(len(some)), self.intercept)
        objective = Objective(OneBlock(block), block.classes, as_they_are, softmax=True)

        def beside(constant: Any, slopes: Any) -> Any:
            return np.column_stack([np.broadcast_to(constant, classes), slopes]) if first else slopes

        # The same constant added to all classes changes nothing.
        free = beside(np.arange(classes) > 0, working[:, some]).astype(bool)
        start, none = beside(self.constant, self.theta[:, some]), np.zeros(classes)
        penalties = {"lasso": beside(none, lasso[:, some]), "ridge": beside(none, ridge[:, some])}
        close = min(gap, GAP) if gap < LOOSE else gap
        found = elastic_net(objective, start, free=free, gap=close, most=most, **penalties)
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
        y, weight = self.response.y, self.response.weight
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
