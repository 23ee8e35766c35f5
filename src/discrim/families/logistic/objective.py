"""The objective of a few-pass model, summed over the rows at every theta, and Newton's method on these sums."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discrim import kernels
from discrim.block import Block
from discrim.families.logistic.positive import solve_positive
from discrim.families.recipe import Passes, Sum
from discrim.families.rule import LinearRule, Output
from discrim.later import cached_property
from discrim.parallel import SINGLE
from discrim.statistics.likelihood import BLOCKS, CURVATURE, GRADIENT, LOSS, Likelihood, add_arrays, merge_likelihoods
from discrim.store.fields import Array, Flag
from discrim.store.kinds import stored
from discrim.typing import Floats

State = TypeVar("State")

# Values of a sparse block that are made dense at a time.
DENSE = 1 << 20
# Coefficients up to which calls cost more than the equations of a Newton step.
FEW = 64
# Values of X whose gradient one thread has before others have begun.
NEARBY = 1_000_000
# Entries of sparse rows, times functions, up to which one call is faster than one a step on several threads.
NEARBY_ENTRIES = 10_000_000
# Values of z that are computed at a time.
VALUES = 1 << 17
# Gaps at which Newton's method (without and with a penalty), quasi-Newton and Newton over a file end; see ``Enough``.
CLOSE, PENALISED_CLOSE, CLOSER, CLOSE_IN_FILES = 1e-12, 1e-9, 1e-13, 1e-8
# The part of the value that it may still promise to fall by where all slopes are flat.
PROMISED = 1e-2
# The full step is tried alone where it promises to lower the value by less than this share, or where a pass is cheap.
SMALL_STEP = 1e-2
# Parts of a step whose losses are computed along with the full step's.
FRACTIONS = (0.5, 0.25, 0.125, 0.03125)


@dataclass(frozen=True)
class Span:
    """The orthonormal basis rows' mixing (p x r) of the space of few ``rows`` (n x p).

    Most fits need but one product with it, which costs less than to write it out.
    """

    rows: Floats
    mixing: Floats

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows.shape[1], self.mixing.shape[1]

    def written(self) -> Floats:
        return np.asarray(self.rows.T @ self.mixing)

    def times(self, slopes: Floats) -> Floats:
        """slopes basis'."""
        return np.asarray((slopes @ self.mixing.T) @ self.rows)

    def within(self, slopes: Floats) -> Floats:
        """slopes basis, whose columns are orthonormal."""
        return np.asarray((slopes @ self.rows.T) @ self.mixing)

    def __reduce__(self) -> tuple[Any, ...]:
        """Saved as what it stands for: the rows stay at home."""
        return np.asarray, (self.written(),)


@stored("coordinates", shift=Array("p"), scale=Array("p", low=5e-324), intercept=Flag())
@dataclass(frozen=True)
class Coordinates:
    """How the solver sees a row: z = (x - shift) / scale, or z = basis'(x - shift), with a leading 1 if ``intercept``.

    A coefficient vector is [intercept, slopes]; for K classes one such row a class. User's coefficients are those
    of the columns x as they came, solver's those of z. ``turned`` is the basis, which may be left unwritten.
    """

    shift: Floats
    scale: Floats
    intercept: bool = True
    turned: Floats | Span | None = None

    @cached_property
    def basis(self) -> Floats | None:
        return self.turned.written() if isinstance(self.turned, Span) else self.turned

    @property
    def size(self) -> int:
        """Coefficients a class."""
        slopes = len(self.scale) if self.turned is None else self.turned.shape[1]
        return slopes + self.intercept

    def to_user(self, theta: Floats) -> Floats:
        """User's coefficients; a leading 0 stands for the intercept that is not there."""
        slopes = theta[..., 1:] if self.intercept else theta
        if isinstance(self.turned, Span):
            user = self.turned.times(slopes)
        else:
            user = slopes / self.scale if self.turned is None else slopes @ self.turned.T
        constant = theta[..., :1] - (user @ self.shift)[..., None] if self.intercept else 0.0 * user[..., :1]
        if not self.intercept and not user.shape[-1]:
            constant = np.zeros((*user.shape[:-1], 1))
        return np.concatenate([constant, user], axis=-1)

    def from_user(self, user: Floats) -> Floats:
        """Solver's coefficients; without a basis the inverse of ``to_user``, with one its least-squares inverse."""
        slopes = user[..., 1:]
        if isinstance(self.turned, Span):
            inner = self.turned.within(slopes)
        else:
            found = slopes * self.scale if self.turned is None else np.linalg.lstsq(self.turned, slopes.T)[0].T
            inner = np.asarray(found, dtype=float)
        if not self.intercept:
            return np.asarray(inner)
        constant = user[..., :1] + (slopes @ self.shift)[..., None]
        return np.concatenate([constant, inner], axis=-1)

    def matrix(self) -> Floats:
        """A (1 + p) x size, with user's = A solver's for one class."""
        return np.asarray(self.to_user(np.eye(self.size)).T)


class HasLikelihood(Protocol):
    """What a solver needs of the data."""

    def at(
        self, theta: Floats, *, depth: int = ..., along: Floats | None = ..., steps: Sequence[float] = ...
    ) -> Likelihood: ...


@dataclass(frozen=True)
class Solution:
    """``theta`` with ``value`` = loss + sum ridge theta^2 / 2 there; ``at`` holds the sums of the last pass.

    ``gap`` is how much the value can still fall, as far as the curvature shows. Where ``exact``, the sums belong to
    theta itself; else to the point before the last step, and are good for the next step but not for standard errors.
    """

    theta: Floats
    value: float
    loss: float
    at: Likelihood
    iterations: int
    converged: bool
    gap: float
    exact: bool = False


@dataclass(frozen=True)
class Enough:
    """Where every smooth fit ends, whatever its way. All figures are for each unit of weight.

    Newton's method ends where the value can fall by no more than ``gap``, as its curvature shows. The step that shows
    it is taken without a pass to confirm it, and leaves about the square of the gap: all digits, the last of them the
    cheapest. ``tol`` has no part in it. The gap is larger with a penalty, where no deviance is reported, and over a
    file, where a pass takes seconds.

    Quasi-Newton pays for every digit as much as for the last, and so ends as scikit-learn does: where no slope of the
    mean objective in the user's units (of centred columns) is above ``tol``. ``flat``, like theta, is half of that in
    the solver's units: slopes of two solvers that end below tol differ by such factors, and the objective should be as
    low as scikit-learn's. Where rows are all but certain every slope is small far from the minimum too: the value must
    not promise to fall by more than ``PROMISED`` of itself either. With tol=0, or without a penalty, ``flat`` is None,
    and it ends at a ``gap`` that is smaller than Newton's, since its curvature is only nearly right.

    Until then ``watch`` is called with theta after every step. ``least`` is a value below which no theta brings the
    objective.
    """

    gap: float = CLOSER
    flat: Floats | None = None
    watch: Callable[[Floats], None] | None = None
    least: float = -np.inf

    def reached(self, gap: float, gradient: Floats, weight: float, value: float) -> bool:
        """With this ``gap`` and ``gradient``, like ``flat``, of rows of this weight, at this ``value``."""
        if gap <= self.gap * weight:
            return True
        if self.flat is None or gap > PROMISED * abs(value):
            return False
        return bool((np.abs(gradient) <= weight * self.flat).all())


class Objective:
    """The log-likelihood of labelled rows under the binary (theta 1-d) or softmax (theta K x size) model.

    Solvers see sums only, never rows. ``passes`` counts how often all rows were read.
    """

    def __init__(self, rows: Passes, classes: NDArray[Any], coordinates: Coordinates, *, softmax: bool = False) -> None:
        self.rows, self.classes, self.coordinates = rows, classes, coordinates
        self.softmax = softmax
        self.passes = 0
        # A pass over a file takes so long that it should answer all that may be asked next.
        self.costly = rows.whole is None
        # What turns derivatives by the coefficients of x - shift into those by the solver's.
        self._factor = np.ones(coordinates.size + 1 - coordinates.intercept)
        if coordinates.turned is None:
            self._factor[1:] = 1.0 / coordinates.scale

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of theta."""
        size = self.coordinates.size
        return (len(self.classes), size) if self.softmax else (size,)

    def at(
        self, theta: Floats, *, depth: int = GRADIENT, along: Floats | None = None, steps: Sequence[float] = ()
    ) -> Likelihood:
        """The sums at theta, and the losses at theta + s along for every s of ``steps``: one pass."""
        self.passes += 1
        q = self.coordinates.size
        curvature = {CURVATURE: theta.size**2, BLOCKS: theta.size * q}.get(depth, 0)
        raw_theta, raw_along = self._raw(theta), None if along is None else self._raw(along)
        of = partial(self._of, raw_theta, raw_along, np.asarray(steps, float), depth)
        whole = self.rows.whole
        if whole is not None and depth <= GRADIENT and isinstance(whole.x, np.ndarray) and whole.x.size <= NEARBY:
            raw = of(whole)
        elif whole is not None and depth == GRADIENT and along is None and self.columns is not None:
            raw = self._of_words(raw_theta, whole)
        else:
            raw = self.rows.reduce(Sum(of, merge_likelihoods, curvature), title=f"pass {self.passes}")
        if self.passes == 1 and not raw.finite:
            error = self.rows.fault()
            if error is not None:
                raise error
        return self._as_solver_sees(raw, depth)

    def full_steps(self, theta: Floats, ridge: Floats, close: float, most: int) -> Solution | None:
        """Newton's method from theta by full steps alone, in one call, where rows and columns are few and in memory.

        ``close`` is the gap, for each unit of weight, at which the last step is taken on trust. None for other rows,
        or where full steps do not reach the minimum.
        """
        c, block = self.coordinates, self.rows.whole
        if block is None or not isinstance(block.x, np.ndarray) or self.softmax or c.turned is not None:
            return None
        if block.x.size > SINGLE or c.size > FEW:
            return None
        weight, rows = _counted(block)
        user_ridge = np.zeros(len(c.scale) + 1)
        user_ridge[int(not c.intercept) :] = ridge
        user_ridge[1:] *= c.scale**2
        response = (codes_in(block, self.classes), block.share, block.weight, block.offset)
        found = kernels.binary_newton(
            block.x, response, c.shift, self._raw(theta), user_ridge, not c.intercept, close * weight, most
        )
        if found is None:
            return None
        raw, value, gap, steps, (loss, gradient, hessian, losses, least) = found
        self.passes += steps
        at = Likelihood(loss, gradient, hessian, losses, weight, rows, least)
        theta = (raw / self._factor)[int(not c.intercept) :]
        return _on_trust(theta, value, gap, ridge, self._as_solver_sees(at, CURVATURE), steps)

    def quasi_newton_steps(
        self, at: Solution, inverse: Floats, ridge: Floats, enough: Enough, steps: tuple[int, int]
    ) -> Solution | None:
        """L-BFGS from a solution of no steps, in one call, where rows are few and in memory; None for other rows.

        ``inverse`` is a diagonal, like theta, or a square for every class. ``steps``: the most, and those remembered.
        """
        c, block, sums = self.coordinates, self.rows.whole, at.at
        if block is None or c.turned is not None or enough.watch is not None:
            return None
        rows = block.x
        functions = len(self.classes) if self.softmax else 1
        if rows.size > NEARBY if isinstance(rows, np.ndarray) else rows.nnz * functions > NEARBY_ENTRIES:
            return None
        first, factor = int(not c.intercept), self._factor
        flat = None if enough.flat is None else sums.weight * enough.flat / factor[first:]
        if flat is not None:
            flat = _with_constant(flat, first, np.inf)
        if inverse.ndim > at.theta.ndim:
            inverse = inverse * factor[first:, None] * factor[first:]
            inverse = np.pad(inverse, ((0, 0), (first, 0), (first, 0))) if first else inverse
        else:
            inverse = _with_constant(inverse * factor[first:] ** 2, first, 0.0)
        start = (self._raw(at.theta), _with_constant(ridge / factor[first:] ** 2, first, 0.0), inverse)
        known = (sums.loss, _with_constant(sums.gradient / factor[first:], first, 0.0))
        x = rows if isinstance(rows, np.ndarray) else (rows.data, rows.indices, rows.indptr)
        response = (codes_in(block, self.classes), block.share, block.weight, block.offset)
        rule = (flat, enough.gap * sums.weight, enough.least, *steps)
        found = kernels.quasi_newton(x, response, c.shift, start, rule, known)
        if found is None:
            return None
        raw, value, gap, iterations, passes, converged, (loss, gradient, hessian, losses, least) = found
        self.passes += passes
        seen = Likelihood(loss, gradient, hessian, losses, sums.weight, sums.rows, least)
        theta = np.ascontiguousarray((raw / factor)[..., first:])
        loss = value - 0.5 * float(np.vdot(ridge * theta, theta))
        return Solution(theta, value, loss, self._as_solver_sees(seen, GRADIENT), iterations, converged, gap)

    def reduce(
        self, of: Callable[[Block], State], merge: Callable[[Sequence[State]], State], *, uses_blas: bool = True
    ) -> State:
        """What ``of`` makes of the blocks, merged: one pass."""
        self.passes += 1
        return self.rows.reduce(Sum(of, merge, uses_blas=uses_blas))

    def several(self, thetas: Floats) -> tuple[Floats, Floats]:
        """Losses and gradients at several thetas, a row each, of two classes without a basis: one pass."""
        raw, shift = self._raw(thetas), self.coordinates.shift

        def of(block: Block) -> tuple[Floats, Floats]:
            assert isinstance(block.x, np.ndarray)
            response = (codes_in(block, self.classes), block.share, block.weight, block.offset)
            return kernels.several_gradients(block.x, *response, shift, raw)

        losses, gradients = self.reduce(of, _add_both, uses_blas=False)
        return losses, (gradients * self._factor)[:, int(not self.coordinates.intercept) :]

    def with_coordinates(self, coordinates: Coordinates) -> Objective:
        """The same likelihood of other coefficients."""
        return Objective(self.rows, self.classes, coordinates, softmax=self.softmax)

    def _of(self, theta: Floats, along: Floats | None, steps: Floats, depth: int, block: Block) -> Likelihood:
        c, codes = self.coordinates, codes_in(block, self.classes)
        x, shift = block.x, c.shift
        basis = None if c.turned is None else c.basis
        if basis is not None:
            x, shift = np.asarray(x @ basis), c.shift @ basis
        weight, rows = _counted(block)
        if not isinstance(x, np.ndarray) and depth >= CURVATURE:
            return self._of_pieces(theta, along, steps, depth, block)
        response = (codes, block.share, block.weight, block.offset)
        if not isinstance(x, np.ndarray):
            sums = kernels.sparse_likelihood((x.data, x.indices, x.indptr), response, theta, along, steps, depth)
        else:
            kernel = kernels.softmax_likelihood if self.softmax else kernels.binary_likelihood
            sums = kernel(x, response, shift, theta, along, steps, depth)
        loss, gradient, hessian, losses, least = sums
        return Likelihood(loss, gradient, hessian, losses, weight, rows, least)

    @cached_property
    def columns(self) -> Any:
        """Those of sparse rows in memory, compressed, for many classes; None where some rows have no weight."""
        block = self.rows.whole
        if block is None or isinstance(block.x, np.ndarray) or not self.softmax or self.coordinates.turned is not None:
            return None
        return block.x.T.tocsr() if block.weight is None or (block.weight > 0).all() else None

    def forget_columns(self) -> None:
        """A model keeps its rows, but not the copy that only the steps of its fit need."""
        self.__dict__.pop("columns", None)

    def _of_words(self, theta: Floats, block: Block) -> Likelihood:
        """Loss and gradient of many classes by products with sparse rows and with their columns: 2 K a stored value."""
        (n, p), classes = block.x.shape, len(theta)
        logs, sums = np.empty((n, classes)), np.empty((p, classes))
        LinearRule(theta[:, 1:], theta[:, 0].copy(), np.zeros(p)).fill(block.x, Output.LOG_POSTERIOR, logs)
        own = np.arange(n), codes_in(block, self.classes)
        w = np.ones(n) if block.weight is None else block.weight
        residual = np.exp(logs)
        residual[own] -= 1.0
        residual *= w[:, None]
        LinearRule(residual.T, np.zeros(classes), np.zeros(n)).fill(self.columns, Output.SCORES, sums)
        gradient = np.column_stack([residual.sum(axis=0), sums.T])
        return Likelihood(-float(w @ logs[own]), gradient, np.empty((0, 0)), np.empty(0), *_counted(block))

    def _of_pieces(self, theta: Floats, along: Floats | None, steps: Floats, depth: int, block: Block) -> Likelihood:
        """Curvature of sparse rows: they are made dense some at a time."""
        size = max(DENSE // max(block.x.shape[1], 1), 1)
        pieces = (block.rows(start, min(start + size, len(block))) for start in range(0, max(len(block), 1), size))
        dense = (replace(piece, x=np.asarray(piece.x.todense())) for piece in pieces if sparse.issparse(piece.x))
        return merge_likelihoods([self._of(theta, along, steps, depth, piece) for piece in dense])

    def _raw(self, theta: Floats) -> Floats:
        """The coefficients of x - shift, with a leading constant, as the kernels want them."""
        c = self.coordinates
        slopes = theta[..., 1:] if c.intercept else theta
        constant = theta[..., :1] if c.intercept else np.zeros((*theta.shape[:-1], 1))
        inner = slopes if c.turned is not None else slopes / c.scale
        return np.ascontiguousarray(np.concatenate([constant, inner], axis=-1))

    def _as_solver_sees(self, raw: Likelihood, depth: int) -> Likelihood:
        if depth == LOSS:
            return raw
        first, q = int(not self.coordinates.intercept), len(self._factor)
        factor, hessian = self._factor[first:], raw.hessian
        if depth >= CURVATURE:
            # One block for every class by itself, or for every two classes.
            functions = 1 if depth == BLOCKS else raw.gradient.size // q
            blocks = hessian.reshape(-1, q, functions, q)[:, first:, :, first:] * factor[:, None, None] * factor
            size = functions * len(factor)
            hessian = blocks.reshape((len(blocks), size, size) if depth == BLOCKS else (size, size))
        gradient = raw.gradient[..., first:] * factor
        return Likelihood(raw.loss, gradient, hessian, raw.losses, raw.weight, raw.rows, raw.least)


def _with_constant(values: Floats, missing: int, constant: float) -> Floats:
    """Contiguous, with this for the constant where it is missing."""
    if missing:
        values = np.concatenate([np.full((*values.shape[:-1], 1), constant), values], axis=-1)
    return np.ascontiguousarray(values)


def _add_both(parts: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    losses, gradients = zip(*parts, strict=True)
    return add_arrays(losses), add_arrays(gradients)


def newton(
    objective: HasLikelihood,
    start: Floats,
    *,
    ridge: Floats | float = 0.0,
    free: NDArray[np.bool_] | None = None,
    at: Likelihood | None = None,
    close: float = CLOSE,
    most: int = 100,
    watch: Callable[[Floats], None] | None = None,
) -> Solution:
    """The minimum of loss + sum ridge theta^2 / 2 over the ``free`` entries of theta; the others keep their value.

    ``at`` are the sums at the start where they are known already; ``watch`` is called with theta after every step.
    Cost: one pass a step, with n size^2 / 2 multiplications, and size^3 / 3.
    """
    theta, ridge = start.astype(float), np.asarray(ridge, float)
    ridge = ridge if ridge.shape == start.shape else np.broadcast_to(ridge, start.shape)
    if at is None and watch is None and (free is None or free.all()) and isinstance(objective, Objective):
        at_once = objective.full_steps(theta, ridge, close, most)
        if at_once is not None:
            return at_once
    index = np.arange(theta.size) if free is None else np.flatnonzero(free.ravel())
    at = objective.at(theta, depth=CURVATURE) if at is None else at
    value = penalised(at.loss, theta, ridge)
    step, gap = _step(at, theta, ridge, index)
    iterations, converged = 0, False
    while iterations < most:
        iterations += 1
        if gap <= close * at.weight:
            theta = theta + step
            converged = True
            if watch is not None:
                watch(theta)
            break
        moved = move(objective, theta, step, value, gap, ridge, CURVATURE)
        if moved is None:
            # No part of the step lowers the value: what is left is rounding.
            converged = gap <= 1e-7 * max(abs(value), 1.0)
            break
        theta, at = moved
        if watch is not None:
            watch(theta)
        value = penalised(at.loss, theta, ridge)
        step, gap = _step(at, theta, ridge, index)
    if converged and iterations and gap <= close * at.weight:
        return _on_trust(theta, value, gap, ridge, at, iterations)
    return Solution(theta, value, at.loss, at, iterations, converged, gap, exact=True)


def _on_trust(theta: Floats, value: float, gap: float, ridge: Floats, at: Likelihood, iterations: int) -> Solution:
    """The last step was taken without a pass: its curvature gives the loss more exactly than another pass could."""
    value -= gap
    loss = value - 0.5 * float(np.vdot(ridge * theta, theta))
    return Solution(theta, value, loss, at, iterations, True, gap)


def penalised(loss: float, theta: Floats, ridge: Floats) -> float:
    """loss + sum ridge theta^2 / 2."""
    return loss + 0.5 * float(np.vdot(ridge * theta, theta))


def _step(at: Likelihood, theta: Floats, ridge: Floats, index: NDArray[np.intp]) -> tuple[Floats, float]:
    """The Newton step on the free entries, and by how much it should lower the value."""
    step = np.zeros(theta.size)
    if not len(index):
        return step.reshape(theta.shape), 0.0
    gradient = (at.gradient + ridge * theta).ravel()[index]
    hessian = at.hessian[index[:, None], index] if len(index) < theta.size else at.hessian.copy()
    hessian.flat[:: len(index) + 1] += ridge.ravel()[index]
    step[index] = -solve_positive(hessian, gradient)
    return step.reshape(theta.shape), -0.5 * float(gradient @ step[index])


def move(
    objective: HasLikelihood, theta: Floats, step: Floats, value: float, gap: float, ridge: Floats, depth: int
) -> tuple[Floats, Likelihood] | None:
    """The full step where it lowers the value enough, else the best of its parts; None where none does.

    With the sums there, to this ``depth``. Where a pass is costly, the full step's also tries the parts.
    """
    for _ in range(12):
        target = theta + step
        parts = FRACTIONS if gap > SMALL_STEP * abs(value) and getattr(objective, "costly", True) else ()
        at = objective.at(target, depth=depth, along=-step if parts else None, steps=[1.0 - f for f in parts])
        if at.finite and penalised(at.loss, target, ridge) <= value - 1e-4 * gap:
            return target, at
        losses = at.losses if parts else objective.at(theta, depth=LOSS, along=step, steps=FRACTIONS).losses
        values = np.array([penalised(loss, theta + f * step, ridge) for loss, f in zip(losses, FRACTIONS, strict=True)])
        values[~np.isfinite(values)] = np.inf
        best = int(values.argmin())
        if values[best] < value - 1e-4 * FRACTIONS[best] * gap:
            theta = theta + FRACTIONS[best] * step
            return theta, objective.at(theta, depth=depth)
        step, gap = step / 64.0, gap / 64.0
    return None


def _counted(block: Block) -> tuple[float, int]:
    """The weight of the rows, and how many have any."""
    if block.weight is None:
        return float(len(block)), len(block)
    return float(block.weight.sum()), int(np.count_nonzero(block.weight))


def codes_in(block: Block, classes: NDArray[Any]) -> NDArray[np.int32]:
    """The block's codes among all classes: a block of a scan knows only its own."""
    if block.classes is classes or np.array_equal(block.classes, classes):
        return block.codes
    return np.searchsorted(classes, block.classes).astype(np.int32)[block.codes]


def solver_rows(
    block: Block, classes: NDArray[Any], coordinates: Coordinates, numbers_a_row: int
) -> Iterator[tuple[Block, Floats]]:
    """Parts of the block and their z, with the leading 1 of the intercept; rows of weight zero are left out.

    The codes of a part count among ``classes``. ``numbers_a_row`` is what the caller makes of a row: parts are as
    long as memory in cache allows. There is at least one part, which may be empty.
    """
    codes = codes_in(block, classes)
    length = max(VALUES // max(numbers_a_row, coordinates.size, 1), 16)
    for start in range(0, max(len(block), 1), length):
        part = block.rows(start, min(start + length, len(block)))
        part_codes = codes[start : start + length]
        if part.weight is not None and not (part.weight > 0).all():
            keep = np.flatnonzero(part.weight > 0)
            extra = (None if a is None else a[keep] for a in (part.weight, part.offset, part.share))
            part = Block(part.x[keep], part_codes[keep], classes, *extra)
        else:
            part = Block(part.x, part_codes, classes, part.weight, part.offset, part.share)
        yield part, _coordinates_of(part.x, coordinates)


def class_forms(z: Floats, matrix: Floats, classes: int) -> Floats:
    """z_i' M_kl z_i for every row i and the blocks M_kl of a matrix that has one for every two classes: n x K x K."""
    size = z.shape[1]
    forms = np.empty((len(z), classes, classes))
    for k in range(classes):
        across = (z @ matrix[k * size : (k + 1) * size]).reshape(len(z), classes, size)
        forms[:, k] = np.einsum("ilj,ij->il", across, z)
    return forms


def _coordinates_of(x: Any, coordinates: Coordinates) -> Floats:
    dense = np.asarray(x if isinstance(x, np.ndarray) else x.toarray(), dtype=float)
    centred = dense - coordinates.shift
    basis = coordinates.basis
    z = centred / coordinates.scale if basis is None else centred @ basis
    return np.column_stack([np.ones(len(z)), z]) if coordinates.intercept else np.asarray(z)


def user_coefficients(theta: Floats, coordinates: Coordinates, *, softmax: bool, penalised: bool) -> Floats:
    """[intercept, slopes] in the user's units: one row for two classes, K for softmax.

    Only differences between classes matter: the coefficients are those that sum to zero. A penalty has
    chosen the slopes already.
    """
    user = np.atleast_2d(coordinates.to_user(theta))
    if softmax:
        user[:, 0] -= user[:, 0].mean()
        if not penalised:
            user[:, 1:] -= user[:, 1:].mean(axis=0)
    return user


def fitted_rule(user: Floats, theta: Floats, coordinates: Coordinates) -> LinearRule:
    """The rule about ``coordinates.shift``, which keeps the digits that an intercept far from the rows would lose."""
    slopes, shift = user[:, 1:], coordinates.shift
    if len(user) > 1:
        return LinearRule(np.ascontiguousarray(slopes), user[:, 0] + slopes @ shift, shift)
    constant = theta.ravel()[0] if coordinates.intercept else 0.0
    both = np.zeros((2, slopes.shape[1]))
    both[1] = slopes[0]
    return LinearRule(both, np.array([0.0, constant]), shift)
