"""L-BFGS, from a curvature which is already nearly right or without any: gradients only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from discrim.families.logistic.objective import Enough, HasLikelihood, Objective, Solution, move, penalised
from discrim.families.logistic.positive import inverses_of, scaled_cholesky, solve_factored
from discrim.statistics.likelihood import BLOCKS, CURVATURE, GRADIENT, Likelihood
from discrim.typing import Floats

# Pairs of steps and gradient changes that are remembered, and coefficients in all of them.
MEMORY, MOST_KEPT = 20, 1_000_000
# Steps after which the curvature is taken anew: the first time, and from then on.
FIRST_STEPS, STEPS = 3, 20
# Coefficients of a class up to which an inverse is written out.
WRITTEN = 256


@dataclass(frozen=True)
class Smooth:
    """Minimise loss + sum ridge theta^2 / 2 over the ``free`` entries, from ``start``.

    Quasi-Newton tries ``plain`` steps before it takes a curvature. For these, ``squares`` are the mean squares of the
    columns, intercept included, by which each bends the loss, where they differ. ``flat`` and ``watch`` are those of
    ``Enough``; ``digits`` asks for all of them.
    """

    ridge: Floats
    free: NDArray[np.bool_]
    start: Floats
    flat: Floats | None = None
    squares: Floats | float = 1.0
    plain: int = 0
    watch: Callable[[Floats], None] | None = None
    digits: bool = False

    def for_part(self, share: float) -> Smooth:
        """The same problem for a part of the rows with this share of the weight."""
        return replace(self, ridge=self.ridge * share, watch=None)


@dataclass(frozen=True)
class Part:
    """The objective of some rows, with this ``share`` of the weight of all."""

    objective: HasLikelihood
    share: float


def descend(
    problem: Smooth, objective: HasLikelihood, curved_by: Part, *, close: float, most: int, near: bool = False
) -> Solution:
    """Quasi-Newton, with the curvature taken anew where many steps have left the old one behind.

    ``curved_by`` are the rows that the curvature is taken from. From a start that is ``near`` it holds longer.
    """
    theta, steps, turn = problem.start, 0, STEPS if near else FIRST_STEPS
    while True:
        curved = steps >= problem.plain
        inverse, sums = _inverse(replace(problem.for_part(curved_by.share), start=theta), curved_by, curved=curved)
        found = quasi_newton(
            objective,
            theta,
            inverse=inverse,
            ridge=problem.ridge,
            free=problem.free,
            at=sums if curved_by.objective is objective else None,
            enough=Enough(close, problem.flat, problem.watch, least=0.0),
            most=min(most, steps + turn if curved else problem.plain) - steps,
        )
        steps, turn = steps + found.iterations, STEPS
        if found.converged or steps >= most or not found.iterations:
            return replace(found, iterations=steps, converged=found.converged or _will_do(problem, found))
        theta = found.theta


def _will_do(problem: Smooth, found: Solution) -> bool:
    """After the last step that was allowed ``tol`` itself is enough, of which ``flat`` is a half."""
    if problem.flat is None:
        return False
    gradient = np.where(problem.free, found.at.gradient + problem.ridge * found.theta, 0.0)
    return Enough(0.0, 2.0 * problem.flat).reached(found.gap, gradient, found.at.weight, found.value)


def quasi_newton(
    objective: HasLikelihood,
    start: Floats,
    *,
    inverse: Callable[[Floats], Floats],
    ridge: Floats | float = 0.0,
    free: NDArray[np.bool_] | None = None,
    at: Likelihood | None = None,
    enough: Enough | None = None,
    most: int = 1000,
) -> Solution:
    """The minimum of loss + sum ridge theta^2 / 2 over the ``free`` entries of theta.

    ``at`` are the sums at the start where they are known already.
    ``inverse`` applies the inverse of a matrix like the curvature (of the free entries, ridge included). The better
    it is, the fewer passes: with the curvature of a random part of the rows five to fifteen. Cost a pass: 2 n size.
    """
    theta, ridge = start.astype(float), np.broadcast_to(np.asarray(ridge, float), start.shape)
    index = slice(None) if free is None or free.all() else np.flatnonzero(free.ravel())
    at = objective.at(theta, depth=GRADIENT) if at is None else at
    value = penalised(at.loss, theta, ridge)
    if isinstance(inverse, Inverse) and isinstance(objective, Objective) and isinstance(index, slice):
        known = Solution(theta, value, at.loss, at, 0, False, np.inf)
        steps = (most, kept_steps(theta.size))
        found = objective.quasi_newton_steps(known, inverse.values, ridge, enough or Enough(), steps)
        if found is not None:
            return found
    gradient = (at.gradient + ridge * theta).ravel()[index]
    memory = Memory(inverse, gradient)
    gap, iterations, converged = np.inf, 0, False
    enough = Enough() if enough is None else enough
    enough = enough if enough.flat is None else replace(enough, flat=enough.flat.ravel()[index])
    for iterations in range(most + 1):
        direction = memory.direction()
        gap = -0.5 * float(gradient @ direction)
        converged = enough.reached(gap, gradient, at.weight, value)
        most_gain = value - enough.least
        if not (memory.count or converged) and 2.0 * gap > most_gain:
            # It promises more than there is to gain. Steps that make many rows certain leave a curvature that misleads.
            direction, gap = direction * (most_gain / (2.0 * gap)), most_gain / 2.0
        step = np.zeros(theta.size)
        step[index] = direction
        if converged:
            # The last step is taken on trust, as Newton's is: it can hardly be wrong by as much as it brings.
            theta, value = theta + step.reshape(theta.shape), value - gap
        if enough.watch is not None and iterations:
            enough.watch(theta)
        if converged or iterations == most:
            break
        moved = move(objective, theta, step.reshape(theta.shape), value, gap, ridge, GRADIENT)
        if moved is None:
            if not memory.count:
                converged = gap <= 1e-7 * max(abs(value), 1.0)
                break
            memory = Memory(inverse, gradient)
            continue
        new, at = moved
        gradient = (at.gradient + ridge * new).ravel()[index]
        memory.moved((new - theta).ravel()[index], gradient)
        theta, value = new, penalised(at.loss, new, ridge)
    loss = value - 0.5 * float(np.sum(ridge * theta * theta))
    return Solution(theta, value, loss, at, iterations, converged, gap)


@dataclass(frozen=True)
class Inverse:
    """The inverse of a matrix like the curvature: its diagonal, or a square for every class (K x size x size).

    The squares of several classes are applied within the directions that sum to zero over the classes: only there has
    softmax a curvature. Steps that sum to zero keep the sum of the coefficients where it is. All classes have the same
    free entries.
    """

    values: Floats

    def __call__(self, right: Floats) -> Floats:
        values = self.values
        if values.ndim < 3:
            return values.ravel() * right
        if len(values) == 1:
            return np.asarray(values[0] @ right)
        rows = right.reshape(len(values), -1)
        rows = rows - rows.mean(axis=0)
        return _level(np.matmul(values, rows[:, :, None])[:, :, 0])


def _level(rows: Floats) -> Floats:
    """Between classes of equal share the curvature is K / (K - 1) times that of each class by itself."""
    return np.asarray(((rows - rows.mean(axis=0)) * (1.0 - 1.0 / len(rows))).ravel())


def kept_steps(size: int) -> int:
    """How many pairs of steps and gradient changes are remembered."""
    return max(5, min(MEMORY, MOST_KEPT // max(size, 1)))


def cholesky_inverse(matrix: Floats) -> Callable[[Floats], Floats] | None:
    """Applies M^-1; None where M is not positive definite."""
    found = scaled_cholesky(matrix, 1e-6)
    return None if found is None else partial(solve_factored, *found)


class Memory:
    """What the last steps have shown of the curvature, and the gradient now.

    L-BFGS in its compact form: with the steps S, the changes Y of the gradient on them, H the ``inverse`` times a
    length, and R the upper triangle of S Y', the direction is -(H g + S'u - (HY)'v) with v = R^-1 S g and
    u = R^-T ((diag R + Y H Y') v - Y H g). Cost: two products with S and two with HY a step, and one ``inverse``.
    """

    def __init__(self, inverse: Callable[[Floats], Floats], gradient: Floats) -> None:
        self.inverse, self.gradient = inverse, gradient
        self.most = kept_steps(len(gradient))
        # The steps are in a ring: the newest takes the place of the oldest.
        self.count, self.newest, self.length = 0, -1, 1.0
        self.s = np.empty((self.most, len(gradient)))
        self.hy = np.empty_like(self.s)
        self.sy, self.yhy = np.zeros((2, self.most, self.most))
        self.sg, self.hyg = np.zeros((2, self.most))

    def moved(self, step: Floats, gradient: Floats) -> None:
        """After a step to where the gradient is this."""
        change = gradient - self.gradient
        self.gradient = gradient
        bend, used = float(step @ change), slice(self.count)
        remembered = bend > 1e-12 * np.sqrt((step @ step) * (change @ change))
        if remembered:
            t = self.newest = (self.newest + 1) % self.most
            self.count = max(self.count, t + 1)
            used = slice(self.count)
            self.s[t], self.hy[t] = step, self.inverse(change)
        along, across = self.s[used] @ change, self.hy[used] @ change
        self.sg[used] += along
        self.hyg[used] += across
        if remembered:
            self.sy[used, t], self.yhy[used, t], self.yhy[t, used] = along, across, across
            self.sg[t], self.hyg[t] = self.s[t] @ gradient, self.hy[t] @ gradient
            # How much flatter the way was than the first curvature had it.
            self.length = bend / float(across[t])

    def direction(self) -> Floats:
        """Minus the product of the inverse curvature with the gradient."""
        plain = self.inverse(self.gradient)
        if not self.count:
            return -plain
        k = self.count
        order = np.arange(self.newest + 1 - k, self.newest + 1) % k
        # Of R only the upper triangle is read.
        r, yhy = self.sy[order][:, order], self.length * self.yhy[order][:, order]
        yhy.flat[:: k + 1] += r.diagonal()
        v = lapack.dtrtrs(r, self.sg[order])[0]
        u = lapack.dtrtrs(r, yhy @ v - self.length * self.hyg[order], trans=1)[0]
        back = np.empty((2, k))
        back[:, order] = u, self.length * v
        return np.asarray(back[1] @ self.hy[:k] - back[0] @ self.s[:k] - self.length * plain)


def _inverse(problem: Smooth, curved_by: Part, *, curved: bool) -> tuple[Callable[[Floats], Floats], Likelihood]:
    """The inverse curvature at the start, of all rows as this part of them shows it; class by class for K classes.

    With the sums that the part has there. Where it is not to be ``curved``, a guess of the diagonal.
    """
    share, blocks = curved_by.share, problem.free.ndim == 2
    if curved:
        at = curved_by.objective.at(problem.start, depth=BLOCKS if blocks else CURVATURE)
        found = _inverse_of(at.hessian if blocks else at.hessian[None], problem, share)
        if found is not None:
            return found, at
    else:
        at = curved_by.objective.at(problem.start, depth=GRADIENT)
    # mu (1 - mu) of a row: that of classes of equal shares, and less where they are well separated.
    even = 1.0 / max(len(problem.free), 2) if blocks else 0.5
    spread = min(even * (1.0 - even) * at.weight, 2.0 * even * at.loss)
    guess = spread * problem.squares + problem.ridge
    if isinstance(problem.squares, np.ndarray) and problem.ridge.any():
        # Where the fit grows certain of rows with large counts, these bend the loss far less than that, and more than
        # the penalty alone: midway it is right enough for word counts as for rows of equal length.
        guess = np.sqrt(guess * np.where(problem.ridge > 0, problem.ridge, problem.ridge.max()))
    diagonal = share / guess
    return Inverse(diagonal if problem.free.all() else diagonal[problem.free]), at


def _inverse_of(hessians: Floats, problem: Smooth, share: float) -> Callable[[Floats], Floats] | None:
    """Of the curvature of every class by itself; None where one of them has no inverse."""
    free, ridge = np.atleast_2d(problem.free), np.atleast_2d(problem.ridge)
    if not free.all():
        # All classes have the same free entries.
        index = np.flatnonzero(free[0])
        hessians, ridge = hessians[:, index[:, None], index], ridge[:, index]
    # A little more than a part shows: directions that it has not seen must not look free.
    unseen = 1.0 + (1e-3 if share < 1.0 else 1e-9)
    each = np.arange(hessians.shape[1])
    matrices = hessians.copy()
    matrices[:, each, each] = unseen * matrices[:, each, each] + ridge
    if len(each) <= WRITTEN:
        written = inverses_of(matrices / share, 1e-6)
        return None if written is None else Inverse(written)
    found = [cholesky_inverse(matrix / share) for matrix in matrices]
    several = [inverse for inverse in found if inverse is not None]
    if len(several) < len(found):
        return None
    return partial(_each, several) if len(found) > 1 else several[0]


def _each(inverses: Sequence[Callable[[Floats], Floats]], right: Floats) -> Floats:
    """As ``Inverse``, of squares that are not written out."""
    rows = right.reshape(len(inverses), -1)
    rows = rows - rows.mean(axis=0)
    return _level(np.stack([inverse(row) for inverse, row in zip(inverses, rows, strict=True)]))
