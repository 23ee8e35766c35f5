"""Logistic regression in one pass: each block of rows is solved together with a memory of those before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.errors import DataError
from discrim.families.logistic.objective import Coordinates, Enough, Objective
from discrim.families.logistic.quasi_newton import cholesky_inverse, quasi_newton
from discrim.families.online.problems import weighted
from discrim.families.online.scaling import Scaling
from discrim.families.recipe import OneBlock, Passes
from discrim.families.sequence import Visits, Watch, entries_per_row
from discrim.losses import sigmoid, softmax
from discrim.parallel import blas_threads
from discrim.statistics.likelihood import BLOCKS, CURVATURE, GRADIENT, LOSS, Likelihood
from discrim.store.fields import Array, Flag, Incoming, Number, Whole, damaged
from discrim.store.kinds import Of, stored
from discrim.store.values import Value
from discrim.typing import Floats

# Numbers of X that are solved at a time: 8 MB.
BLOCK_NUMBERS = 1 << 20
# Coefficients of a function up to which its curvature is remembered in full, beyond that by its diagonal.
FULL_SIZE = 500
# A block is solved when its log-likelihood can rise by no more than this: a seventh of a standard error is left.
ENOUGH = 0.01
MOST_STEPS = 100
# What every intercept begins with: the curvature of one row at even odds, so that one class alone has an optimum too.
FIRST_ROW = 0.25
# Part of its own size that is added to each curvature: no direction looks entirely free.
UNSEEN = 1e-9


@stored(
    "one-pass memory", theta=Array("k q"), curvature=Value(), pull=Array("k q"), weight=Number(0.0), intercept=Flag()
)
@dataclass(frozen=True)
class Memory:
    """What is kept of rows that are gone: where they left ``theta`` (K x q), and their loss about that point.

    With H_k = ``curvature[k]`` (q x q, or its diagonal q) and g_k = ``pull[k]`` the past costs
    sum_k theta_k'H_k theta_k / 2 - g_k'theta_k, the second-order expansion of each block's loss where it was solved,
    without the curvature between classes. K is 1 for two classes; intercepts, if any, are the first column. ``weight``
    is that of the rows, their number where they have none. Memory: K q^2 numbers, or K q.
    """

    theta: Floats
    curvature: Floats
    pull: Floats
    weight: float
    intercept: bool

    def check_stored(self, file: Incoming) -> None:
        """The curvature is a matrix for each function, or its diagonal."""
        k, q = file.letters["k"], file.letters["q"]
        curvature: Any = self.curvature
        fits = isinstance(curvature, np.ndarray) and curvature.dtype == np.float64 and np.isfinite(curvature).all()
        if not fits or curvature.shape not in {(k, q), (k, q, q)}:
            raise damaged("curvature", "does not go with the coefficients")

    @classmethod
    def empty(cls, functions: int, columns: int, *, intercept: bool) -> Memory:
        q = columns + intercept
        curvature = np.zeros((functions, q, q) if q <= FULL_SIZE else (functions, q))
        if intercept:
            curvature.reshape(functions, -1)[:, 0] = FIRST_ROW
        return cls(np.zeros((functions, q)), curvature, np.zeros((functions, q)), 0.0, intercept)

    @property
    def full(self) -> bool:
        return self.curvature.ndim == 3

    @property
    def intercepts(self) -> Floats:
        return self.theta[:, 0] if self.intercept else np.zeros(len(self.theta))

    @property
    def slopes(self) -> Floats:
        return self.theta[:, int(self.intercept) :]

    def bend(self, theta: Floats) -> Floats:
        """H theta, class by class."""
        return np.einsum("kij,kj->ki", self.curvature, theta) if self.full else self.curvature * theta

    def grown(self, functions: int, places: NDArray[np.intp]) -> Memory:
        """More classes; ``places`` says where those that were there are now.

        What was learned stays: two classes of one function become two functions of half its size. A new class begins
        as rare as the past has made it, with the odds of one row to all that came.
        """
        old = self
        if functions == 1:
            return replace(self, theta=-self.theta, pull=-self.pull) if places[0] else self
        if len(self.theta) == 1:
            old = self._as_pair()
        new = Memory.empty(functions, self.theta.shape[1] - self.intercept, intercept=self.intercept)
        theta, curvature, pull = new.theta, new.curvature, new.pull
        if self.intercept:
            known = old.intercepts[: len(places)]
            top = known.max()
            theta[:, 0] = top + np.log(np.exp(known - top).sum()) - np.log1p(self.weight)
            curvature.reshape(functions, -1)[:, 0] = 1.0
        pull[:] = new.bend(theta)
        n = len(places)
        theta[places], curvature[places], pull[places] = old.theta[:n], old.curvature[:n], old.pull[:n]
        return replace(self, theta=theta, curvature=curvature, pull=pull)

    def _as_pair(self) -> Memory:
        """Functions -f / 2 and f / 2 for the one f, with the same slope of the past at this point."""
        theta, curvature = np.vstack([-self.theta, self.theta]) / 2.0, np.repeat(self.curvature, 2, axis=0)
        slope = self.bend(self.theta) - self.pull
        pair = Memory(theta, curvature, np.zeros_like(theta), self.weight, self.intercept)
        return replace(pair, pull=pair.bend(theta) - np.vstack([-slope, slope]))


@stored("one-pass past", memory=Of(Memory, {"k": "k", "q": "q"}), blocks=Whole())
@dataclass
class Past:
    """The memory so far, and how many blocks it is made of."""

    memory: Memory
    blocks: int = 0


@dataclass(frozen=True, eq=False)
class OnePass:
    """The sequence, of one epoch: each block renews the memory; rows of class k count ``gains[k]`` times."""

    scaling: Scaling
    gains: Floats
    alpha: float
    over: Callable[[Block], Passes]

    def step(self, state: Past, rows: Visits, problems: Sequence[int]) -> None:  # noqa: ARG002 - there is one
        block = weighted(rows.block, self.gains)
        state.memory = learn_block(state.memory, block, self.scaling, self.alpha, self.over)
        state.blocks += 1

    def judge(self, state: Past, watches: Mapping[int, Watch]) -> None:
        """Rows are read once: there is nothing to wait for."""


def rows_at_once(x: Any) -> int:
    """Rows of a block: about BLOCK_NUMBERS of X."""
    return max(BLOCK_NUMBERS // entries_per_row(x), 1)


def learn_block(
    memory: Memory, rows: Block, scaling: Scaling, alpha: float, over: Callable[[Block], Passes] = OneBlock
) -> Memory:
    """The minimum over theta of the past, the block's own loss and alpha / 2 |slopes|^2 for each unit of weight so far.

    Columns are those of ``scaling``; ``over`` opens the block for sums. Cost: five to a hundred sums of the slope,
    2 m q K multiplications each for m rows, one of the curvature, m q^2 K / 2, and K q^3 / 3; with the diagonal of the
    curvature m q K.
    """
    weight = float(len(rows)) if rows.weight is None else float(rows.weight.sum())
    if not weight:
        return memory
    classes = np.arange(max(len(memory.theta), 2))
    with np.errstate(divide="ignore"):
        coordinates = Coordinates(scaling.shift, 1.0 / scaling.factor, intercept=memory.intercept)
    objective = Objective(over(replace(rows, classes=classes)), classes, coordinates, softmax=len(classes) > 2)
    total = memory.weight + weight
    ridge = np.full(memory.theta.shape, alpha * total)
    if memory.intercept:
        ridge[:, 0] = 0.0
    both = _WithPast(objective, memory, rows, weight, scaling)
    with blas_threads(memory.theta.shape[1]), np.errstate(over="ignore", invalid="ignore"):
        found = quasi_newton(
            both, memory.theta, inverse=both.inverse(ridge, total), ridge=ridge,
            enough=Enough(ENOUGH / weight), most=MOST_STEPS,
        )  # fmt: skip
        at, curvature = both.bent(found.theta)
        if not (np.isfinite(found.theta).all() and np.isfinite(curvature).all()):
            raise DataError("The weights overflow: some values are too large. Scale the columns.")
        seen = replace(memory, curvature=curvature)
        pull = memory.pull + seen.bend(found.theta) - at.gradient.reshape(found.theta.shape)
        return Memory(found.theta, memory.curvature + curvature, pull, total, memory.intercept)


class _WithPast:
    """The likelihood of a block of rows, with the memory of those before added to it."""

    def __init__(self, objective: Objective, memory: Memory, rows: Block, weight: float, scaling: Scaling) -> None:
        self.objective, self.memory, self.rows, self.scaling = objective, memory, rows, scaling
        self.costly = False
        self.weight = weight

    @property
    def shape(self) -> tuple[int, ...]:
        return self.memory.theta.shape

    def at(
        self, theta: Floats, *, depth: int = GRADIENT, along: Floats | None = None, steps: Sequence[float] = ()
    ) -> Likelihood:
        own = self._own(theta, depth, along, steps)
        bend, pull = self.memory.bend(theta), self.memory.pull
        loss = own.loss + float(np.vdot(theta, 0.5 * bend - pull))
        losses = own.losses
        if along is not None:
            size, slope = float(np.vdot(along, self.memory.bend(along))), float(np.vdot(along, bend - pull))
            line = np.asarray(steps, float)
            losses = losses + loss - own.loss + line * slope + 0.5 * line**2 * size
        gradient = own.gradient if depth == LOSS else own.gradient.reshape(theta.shape) + bend - pull
        return Likelihood(loss, gradient, own.hessian, losses, own.weight, own.rows, own.least)

    def bent(self, theta: Floats) -> tuple[Likelihood, Floats]:
        """The sums of the block alone, and its curvature as the memory keeps it."""
        if self.memory.full:
            at = self._own(theta, CURVATURE if len(theta) == 1 else BLOCKS, None, ())
            return at, at.hessian.reshape(self.memory.curvature.shape)
        return self._own(theta, GRADIENT, None, ()), self._diagonal(theta)

    def inverse(self, ridge: Floats, total: float) -> Callable[[Floats], Floats]:
        """Applies the inverse of what the curvature of past and block should be.

        The block is taken to bend as the past does where that weighs more, else it is asked.
        """
        memory = self.memory
        known = memory.weight >= self.weight
        curvature = (
            memory.curvature * (total / memory.weight) if known else memory.curvature + self.bent(memory.theta)[1]
        )
        if not memory.full:
            diagonal = curvature * (1.0 + UNSEEN) + ridge + UNSEEN
            return lambda right: right / diagonal.ravel()
        for matrix, own in zip(curvature, ridge, strict=True):
            matrix[np.diag_indices_from(matrix)] += own + UNSEEN * (np.diagonal(matrix) + 1.0)
        inverses = [cholesky_inverse(matrix) for matrix in curvature]

        def apply(right: Floats) -> Floats:
            pieces = right.reshape(len(curvature), -1)
            solved = [
                pieces[k] / np.diagonal(curvature[k]) if inverse is None else inverse(pieces[k])
                for k, inverse in enumerate(inverses)
            ]
            return np.concatenate(solved)

        return apply

    def _own(self, theta: Floats, depth: int, along: Floats | None, steps: Sequence[float]) -> Likelihood:
        if len(theta) > 1:
            return self.objective.at(theta, depth=depth, along=along, steps=steps)
        return self.objective.at(theta[0], depth=depth, along=None if along is None else along[0], steps=steps)

    def _diagonal(self, theta: Floats) -> Floats:
        """Sums of mu (1 - mu) z^2 over the rows, for each function and column."""
        x: Any = self.rows.x
        coef = theta[:, int(self.memory.intercept) :] * self.scaling.factor
        constant = (theta[:, 0] if self.memory.intercept else 0.0) - coef @ self.scaling.shift
        score = np.asarray(x @ coef.T) + constant
        mu = sigmoid(score) if len(theta) == 1 else softmax(score)
        spread = mu * (1.0 - mu)
        if self.rows.weight is not None:
            spread = spread * self.rows.weight[:, None]
        if hasattr(x, "indptr"):
            squares = np.asarray((x.multiply(x).T @ spread).T) * self.scaling.factor**2
        else:
            z: Any = self.scaling.scaled(self.rows).x
            squares = spread.T @ (z * z)
        return np.column_stack([spread.sum(axis=0), squares]) if self.memory.intercept else squares
