"""The objective of a few-pass model: a log-likelihood that is summed over the rows each time it is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discrim import kernels
from discrim.block import Block
from discrim.families.recipe import Passes, Sum
from discrim.families.rule import LinearRule
from discrim.kernels.logistic.reference_coordinate import SEVERAL
from discrim.later import cached_property
from discrim.parallel import SINGLE
from discrim.statistics.likelihood import BLOCKS, CURVATURE, GRADIENT, LOSS, Likelihood, merge_likelihoods
from discrim.typing import Floats

Several = tuple[Floats, Floats]

# Numbers of a sparse block that are made dense at a time.
DENSE = 1 << 20
# Coefficients up to which calls cost more than the equations of a Newton step.
FEW = 64
# Numbers of z that are written out at once.
NUMBERS = 1 << 17


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


@dataclass(frozen=True)
class FullSteps:
    """Where Newton's full steps ended; ``value``, ``gap`` and the sums ``at`` are those before the last step."""

    theta: Floats
    value: float
    gap: float
    steps: int
    at: Likelihood


class Objective:
    """The log-likelihood of labelled rows under the binary (theta 1-d) or softmax (theta K x size) model.

    Whoever asks sees sums only, never rows. ``passes`` counts how often all rows were read.
    """

    def __init__(self, rows: Passes, classes: NDArray[Any], coordinates: Coordinates, *, softmax: bool = False) -> None:
        self.rows, self.classes, self.coordinates = rows, classes, coordinates
        self.softmax = softmax
        self.passes = 0
        # A pass over a file takes so long that it should answer all that may be asked next.
        self.costly = rows.whole is None

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
        of = partial(
            self._of, self._raw(theta), None if along is None else self._raw(along), np.asarray(steps, float), depth
        )
        raw = self.rows.reduce(Sum(of, merge_likelihoods, curvature), title=f"pass {self.passes}")
        if self.passes == 1 and not raw.finite:
            error = self.rows.fault()
            if error is not None:
                raise error
        return self._as_solver_sees(raw, depth)

    def full_steps(self, theta: Floats, ridge: Floats, close: float, most: int) -> FullSteps | None:
        """Newton's method from theta by full steps alone, in one call, where the rows are few numbers in memory.

        ``close`` is the gap, for each unit of weight, at which the last step is taken on trust. None where the rows are
        not so, or where full steps do not get there.
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
        theta = raw / self._factor
        return FullSteps(theta[int(not c.intercept) :], value, gap, steps, self._as_solver_sees(at, CURVATURE))

    @property
    def together(self) -> bool:
        """Can one pass serve several thetas?"""
        whole = self.rows.whole
        dense = whole is None or isinstance(whole.x, np.ndarray)
        return dense and not self.softmax and self.coordinates.basis is None

    def slopes(self, thetas: Floats) -> Several:
        """Losses (m) and gradients (m x theta's size) at the rows of ``thetas``: one pass for every SEVERAL of them."""
        if not self.together:
            sums = [self.at(theta.reshape(self.shape), depth=GRADIENT) for theta in thetas]
            return np.array([each.loss for each in sums]), np.stack([each.gradient.ravel() for each in sums])
        parts = [self._slopes_together(thetas[i : i + SEVERAL]) for i in range(0, len(thetas), SEVERAL)]
        losses, gradients = zip(*parts, strict=True)
        return np.concatenate(losses), np.concatenate(gradients)

    def with_coordinates(self, coordinates: Coordinates) -> Objective:
        """The same likelihood of other coefficients."""
        return Objective(self.rows, self.classes, coordinates, softmax=self.softmax)

    def _slopes_together(self, thetas: Floats) -> Several:
        self.passes += 1
        c, count = self.coordinates, len(thetas)
        raw = np.zeros((SEVERAL, len(c.scale) + 1))
        np.divide(thetas[:, int(c.intercept) :], c.scale, out=raw[:count, 1:])
        if c.intercept:
            raw[:count, 0] = thetas[:, 0]
        losses, gradients = self.rows.reduce(Sum(partial(self._several, raw), _added))
        inside = gradients[:count, int(not c.intercept) :]
        inside[:, int(c.intercept) :] /= c.scale
        return losses[:count], inside

    def _several(self, raw: Floats, block: Block) -> Several:
        assert isinstance(block.x, np.ndarray)
        codes, response = codes_in(block, self.classes), (block.share, block.weight, block.offset)
        return kernels.several_gradients(block.x, codes, *response, self.coordinates.shift, raw)

    def _of(self, theta: Floats, along: Floats | None, steps: Floats, depth: int, block: Block) -> Likelihood:
        c, codes = self.coordinates, codes_in(block, self.classes)
        x, shift = block.x, c.shift
        if c.basis is not None:
            x, shift = np.asarray(x @ c.basis), c.shift @ c.basis
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

    @cached_property
    def _factor(self) -> Floats:
        """What turns derivatives by the coefficients of x - shift into those by the solver's."""
        c = self.coordinates
        one = np.ones(c.size + 1 - c.intercept)
        if c.turned is None:
            one[1:] = 1.0 / c.scale
        return one

    @cached_property
    def _square(self) -> Floats:
        factor = np.tile(self._factor, len(self.classes)) if self.softmax else self._factor
        return np.multiply.outer(factor, factor)

    def _as_solver_sees(self, raw: Likelihood, depth: int) -> Likelihood:
        if depth == LOSS:
            return raw
        gradient, hessian, factor = raw.gradient * self._factor, raw.hessian, self._factor
        if depth == BLOCKS:
            hessian = hessian * factor[:, None] * factor
        elif depth == CURVATURE:
            hessian = hessian * self._square
        if not self.coordinates.intercept:
            gradient = gradient[..., 1:]
            if depth == BLOCKS:
                hessian = hessian[:, 1:, 1:]
            elif depth == CURVATURE:
                kept = np.flatnonzero(np.arange(len(hessian)) % len(factor))
                hessian = hessian[np.ix_(kept, kept)]
        return Likelihood(raw.loss, gradient, hessian, raw.losses, raw.weight, raw.rows, raw.least)


def _counted(block: Block) -> tuple[float, int]:
    """The weight of the rows, and how many have any."""
    if block.weight is None:
        return float(len(block)), len(block)
    return float(block.weight.sum()), int(np.count_nonzero(block.weight))


def _added(parts: Sequence[Several]) -> Several:
    losses, gradients = zip(*parts, strict=True)
    return np.asarray(sum(losses)), np.asarray(sum(gradients))


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
    length = max(NUMBERS // max(numbers_a_row, coordinates.size, 1), 16)
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
    z = centred / coordinates.scale if coordinates.basis is None else centred @ coordinates.basis
    return np.column_stack([np.ones(len(z)), z]) if coordinates.intercept else np.asarray(z)


def user_coefficients(theta: Floats, coordinates: Coordinates, *, softmax: bool, penalised: bool) -> Floats:
    """[intercept, slopes] in the user's units: one row for two classes, K for softmax.

    Only differences between classes matter: of all coefficients with the same differences those are told that sum to
    zero. A penalty has chosen the slopes already.
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


def as_one(coef: Any, intercept: Any) -> Floats:
    """``coef_`` (dense or sparse) and ``intercept_`` (numbers or one number) as one array, intercept first."""
    slopes = np.atleast_2d(np.asarray(coef if isinstance(coef, np.ndarray) else coef.toarray(), dtype=float))
    told = np.empty((len(slopes), slopes.shape[1] + 1))
    told[:, 0], told[:, 1:] = np.ravel(np.asarray(intercept, dtype=float)), slopes
    return told


def written_rule(told: Floats) -> LinearRule:
    """The rule of coefficients as ``as_one`` gives them."""
    both = np.vstack([np.zeros_like(told), told]) if len(told) == 1 else told
    return LinearRule(np.ascontiguousarray(both[:, 1:]), both[:, 0].copy(), np.zeros(told.shape[1] - 1))
