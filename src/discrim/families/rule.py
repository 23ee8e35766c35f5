"""Fitted rules: arrays that say how a row is scored, and nothing else.

A rule is a plain value, a kind and its arrays, so that files and exports can be made from it without knowing the model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from enum import IntEnum
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from discrim import kernels
from discrim.block import Reads
from discrim.kernels.gaussian import reference as names
from discrim.later import cached_property
from discrim.parallel import run, split
from discrim.store.fields import Array, Fields, Flag, Incoming, Many, Number, Optional, damaged
from discrim.store.kinds import Of, enter_kind
from discrim.typing import Floats, Mask

# Rows of a sparse or projected block that are made dense at once, and the numbers that these may have.
DENSE_ROWS = 4096
DENSE_SIZE = 1 << 20
# Stored entries of sparse rows that are worth a task.
TASK = 100_000
# Additions of linear scores, and reads of what they are made of, that one thread does before another has begun.
ALONE = 8_000_000
# Numbers of dense rows from which one product for the margin of two classes is cheaper than the scores of both, and
# those that are turned into doubles at once, which pays below so many columns.
MARGIN_WORTH, MARGIN_SIZE, NARROW = 30_000, 1 << 15, 24
# Where |coef|'|origin| stays below this, scores of rows that are not centred are exact to 1e-12.
MOST_CENTRED = 1e4

T = TypeVar("T")

# Fields of rules in model files. A class that cannot occur has the constant -inf.
COEF, OFFSET, ORIGIN = Array("K p"), Array("K", allowed=("-inf",)), Array("p")
SAME = {"K": "K", "p": "p"}


class Output(IntEnum):
    """What is wanted of the scores."""

    SCORES = names.SCORES
    BEST = names.BEST
    POSTERIOR = names.POSTERIOR
    LOG_POSTERIOR = names.LOG_POSTERIOR


# Values, and whether every row has a finite score.
Scored = tuple[NDArray[Any], bool]
# A kind, and fields by name.
Described = tuple[str, dict[str, Any]]


class Rule:
    """Scores of rows, one a class: log posteriors up to a constant of the row.

    A subclass is a dataclass of arrays with a ``kind``. It says how dense rows are scored, by ``scores`` or by
    ``fill``; posteriors, best classes, sparse rows and threads follow. With ``stored``, the fields that model files
    have of it, what is read from a file is checked: K stands for the classes, p for the columns.
    """

    kind: ClassVar[str]
    stored: ClassVar[Fields]
    offset: Floats
    # Do the intermediate results of a row take many times its own size?
    bulky: ClassVar[bool] = False
    # Additions for each number of a row, where they are few; 0 where a row takes more than its numbers say.
    effort: ClassVar[int] = 0
    # How it takes rows: "dense" rules take sparse ones too, block by block.
    reads: ClassVar[Reads] = "dense"
    # Is the answer the class with the largest score?
    by_score: ClassVar[bool] = True
    # Are scores log posteriors, up to a constant?
    has_posterior: ClassVar[bool] = True

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "kind" in vars(cls):
            enter_kind(f"rule:{cls.kind}", cls)

    @property
    def keeps_sparse(self) -> bool:
        """Does ``fill`` take sparse rows as they are, on all threads?"""
        return False

    @property
    def linear(self) -> LinearRule | None:
        """Linear functions with the same answers, one a class; None where boundaries are not hyperplanes."""
        return None

    @property
    def constant(self) -> Floats:
        """What the score of each class has whatever the row; -inf for a class that cannot occur."""
        return self.offset

    def scores(self, x: NDArray[Any]) -> Floats:
        """n x K scores of dense rows, in double precision."""
        scores = np.empty((x.shape[0], len(self.constant)))
        self.fill(x, Output.SCORES, scores)
        return scores

    def fill(self, x: Any, output: Output, out: NDArray[Any]) -> bool:
        """Write what is wanted of the scores into ``out``; False where a row has no finite best score."""
        possible = ~np.isneginf(self.constant)
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is looked for by the caller
            scores = self.scores(x)
        return _finish(np.where(possible, scores, 0.0), possible, output, out)

    def contributions(self, x: Any) -> Floats | None:  # noqa: ARG002 - as a rule
        """What each column adds to the score of each class, n x K x p, of dense rows; None where it is no such sum.

        A product of two columns counts half for each of them, which is its Shapley value.
        """
        return None

    def joined(self, rules: Sequence[Rule], weights: tuple[float, float]) -> Rule | None:  # noqa: ARG002 - as a rule
        """One rule for many of two classes, of which this is the first: what ``weights`` make of the scores of each.

        None where one reading of the rows would not do for all of them.
        """
        return None

    def margin(self, x: Any, weights: tuple[float, float]) -> Floats | None:  # noqa: ARG002 - as a rule
        """What ``weights`` make of the scores of two classes, where that costs less than both scores.

        None where it does not, or where a row has no finite score.
        """
        return None

    def described(self) -> Described:
        """The kind and the arrays by name; rules and terms inside are described in the same way."""
        return described(self)


def described(value: Any) -> Described:
    """The kind of a rule or of a term of one, and its fields by name."""
    return value.kind, {field.name: _plain(getattr(value, field.name)) for field in fields(value)}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return described(value) if hasattr(value, "kind") else value


@dataclass(frozen=True)
class LinearRule(Rule):
    """score_k(x) = offset_k + coef_k'(x - origin); with a ``threshold`` the indicators x_j > threshold stand for x."""

    kind = "linear"
    stored: ClassVar[Fields] = {"coef": COEF, "offset": OFFSET, "origin": ORIGIN, "threshold": Optional(Number())}

    coef: Floats
    offset: Floats
    origin: Floats
    threshold: float | None = None

    @property
    def linear(self) -> LinearRule:
        return self

    @property
    def intercept(self) -> Floats:
        """The constant when the score is written offset_k + coef_k'x."""
        return np.asarray(self.offset - self.coef @ self.origin)

    @property
    def effort(self) -> int:  # type: ignore[override]
        return 2 + len(self.coef)

    def joined(self, rules: Sequence[Rule], weights: tuple[float, float]) -> LinearRule | None:
        alike = [rule for rule in rules if isinstance(rule, LinearRule) and rule.threshold == self.threshold]
        if len(alike) < len(rules) or any(len(rule.coef) != 2 for rule in alike):
            return None
        take = np.array([weights])
        with np.errstate(invalid="ignore"):  # a class that cannot occur has the offset -inf
            joint = side_by_side([replace(rule, coef=take @ rule.coef, offset=take @ rule.offset) for rule in alike])
        return joint if np.isfinite(joint.offset).all() else None

    def margin(self, x: Any, weights: tuple[float, float]) -> Floats | None:
        dense = isinstance(x, np.ndarray)
        if dense and (x.size < MARGIN_WORTH or self.threshold is not None or not _multiplies_well(x)):
            return None
        joint = self.joined([self], weights) if len(self.coef) == 2 and self.keeps_sparse else None
        if joint is None:
            return None
        if not dense:
            scores = np.empty((x.shape[0], 1))
            return scores[:, 0] if joint.fill(x, Output.SCORES, scores) else None
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is looked for
            margin = _product(x, joint.coef[0])
            margin += joint.intercept
            return margin if np.isfinite(margin.sum()) else None

    @property
    def keeps_sparse(self) -> bool:
        """May the origin go into the constant, so that zeros need not be read, without a loss of digits?"""
        return self._near_origin

    @cached_property
    def _near_origin(self) -> bool:
        with np.errstate(over="ignore", invalid="ignore"):
            return not self.origin.any() or bool((np.abs(self.coef) @ np.abs(self.origin) <= MOST_CENTRED).all())

    def fill(self, x: Any, output: Output, out: NDArray[Any]) -> bool:
        if not isinstance(x, np.ndarray):
            return self._fill_sparse(x, output, out)
        return kernels.score(self._seen(x), names.LINEAR, self.origin, self.coef, self.offset, False, output, out)

    def contributions(self, x: Any) -> Floats:
        return np.asarray((self._seen(x) - self.origin)[:, None, :] * self.coef)

    def _seen(self, x: Any) -> Any:
        """Dense rows, or what stands for them."""
        if self.threshold is None:
            return x
        with np.errstate(invalid="ignore"):  # what is not finite stays so
            return (x > self.threshold) + (x - x)

    def _fill_sparse(self, x: Any, output: Output, out: NDArray[Any]) -> bool:
        """The same from the stored entries alone. Cost: K operations for each of them."""
        table, offset = by_column(self.coef), self.intercept if self.origin.any() else self.offset

        def task(start: int, stop: int) -> bool:
            rows = entries(x, start, stop)
            return kernels.sparse_score(rows, table, offset, self.threshold, output, out[start:stop])

        return task(0, x.shape[0]) if x.nnz * (4 + len(offset)) <= ALONE else all(over_rows(x, task))


def _multiplies_well(x: NDArray[Any]) -> bool:
    """Is a product with dense rows cheaper than the kernel, which reads single precision as it is?"""
    return x.flags.forc and (x.dtype == np.float64 or x.shape[1] < NARROW)


def _product(x: NDArray[Any], coef: Floats) -> Floats:
    """x coef in double precision, without a copy of all x."""
    if x.dtype == np.float64:
        return np.asarray(x @ coef)
    n, p = x.shape
    out = np.empty(n)
    step = max(MARGIN_SIZE // p, 1)

    def task(begin: int, end: int) -> None:
        doubles = np.empty((min(step, end - begin), p))
        for start in range(begin, end, step):
            stop = min(start + step, end)
            part = doubles[: stop - start]
            np.copyto(part, x[start:stop])
            np.dot(part, coef, out=out[start:stop])

    ranges = split(n, p) if x.size > ALONE // 2 else [(0, n)]
    run(lambda i: task(*ranges[i]), len(ranges))
    return out


def over_rows(x: Any, task: Callable[[int, int], T]) -> list[T]:
    """``task(start, stop)`` for ranges of rows that cover sparse x, on all threads."""
    n, tasks = x.shape[0], max(min(x.nnz // TASK, x.shape[0]), 1)
    return run(lambda i: task(n * i // tasks, n * (i + 1) // tasks), tasks)


def entries(x: Any, start: int, stop: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Values, columns and row pointers of some rows, as views."""
    return x.data, x.indices, x.indptr[start : stop + 1]


def by_column(coef: Floats) -> Floats:
    """Coefficients K x p as p x K, padded so that no column needs more cache lines than it must."""
    size, p = coef.shape
    if size == 1:
        return np.ascontiguousarray(coef).reshape(p, 1)
    width = next((w for w in (1, 2, 4) if size <= w), -(-size // 8) * 8)
    padded = np.zeros(p * width + 7)
    first = -(padded.ctypes.data // 8) % 8
    table = padded[first : first + p * width].reshape(p, width)
    table[:, :size] = coef.T
    return table


def side_by_side(rules: Sequence[LinearRule]) -> LinearRule:
    """The scores of all of these rules, as one rule with the origin of the first."""
    origin = rules[0].origin
    if len(rules) == 1:
        return rules[0]
    offset = np.concatenate([rule.offset + rule.coef @ (origin - rule.origin) for rule in rules])
    return LinearRule(np.concatenate([rule.coef for rule in rules]), offset, origin, rules[0].threshold)


@dataclass(frozen=True)
class DiagonalRule(Rule):
    """score_k(x) = offset_k - sum_j precision_kj (x_j - mean_kj)^2 / 2."""

    kind = "diagonal"
    stored: ClassVar[Fields] = {"mean": COEF, "precision": Array("K p", low=0.0), "offset": OFFSET}

    mean: Floats
    precision: Floats
    offset: Floats

    def fill(self, x: NDArray[Any], output: Output, out: NDArray[Any]) -> bool:
        return kernels.score(x, names.DIAGONAL_RULE, self.mean, self.precision, self.offset, False, output, out)

    def contributions(self, x: Any) -> Floats:
        return np.asarray(-0.5 * self.precision * np.square(x[:, None, :] - self.mean))


@dataclass(frozen=True)
class QuadraticRule(Rule):
    """score_k(x) = offset_k - |factor_k (x - mean_k)|^2 / 2, factor K x r x p (triangular: r = p, lower)."""

    kind = "quadratic"
    stored: ClassVar[Fields] = {"mean": COEF, "factor": Array("K r p"), "offset": OFFSET, "triangular": Flag()}

    mean: Floats
    factor: Floats
    offset: Floats
    triangular: bool

    def check_stored(self, file: Incoming) -> None:
        """A triangular factor is square, and zero above the diagonal."""
        if self.triangular and file.letters["r"] != file.letters["p"]:
            raise damaged("factor", "is not square, as a triangular one is")

    def fill(self, x: NDArray[Any], output: Output, out: NDArray[Any]) -> bool:
        return kernels.score(x, names.QUADRATIC, self.mean, self.factor, self.offset, self.triangular, output, out)

    def contributions(self, x: Any) -> Floats:
        u = x[:, None, :] - self.mean
        return np.asarray(-0.5 * u * self.pulled(u))

    def pulled(self, u: Floats) -> Floats:
        """factor_k' factor_k u_k for deviations u, n x K x p."""
        inner = np.einsum("krp,nkp->nkr", self.factor, u)
        return np.asarray(np.einsum("krp,nkr->nkp", self.factor, inner))


@dataclass(frozen=True)
class ProjectedRule(Rule):
    """A rule on z = basis'(x - origin), for more columns than rows.

    What lies outside the basis counts as - residual_precision_k |x - origin - basis z|^2 / 2.
    """

    kind = "projected"
    stored: ClassVar[Fields] = {
        "origin": ORIGIN, "basis": Array("p q"), "inner": Of(QuadraticRule, {"K": "K", "p": "q"}),
        "residual_precision": Array("K", low=0.0),
    }  # fmt: skip
    bulky = True

    origin: Floats
    basis: Floats
    inner: QuadraticRule
    residual_precision: Floats

    @property
    def constant(self) -> Floats:
        return self.inner.offset

    def scores(self, x: NDArray[Any]) -> Floats:
        """The residual enters the inner rule as one more coordinate a class, through its offset."""
        centred = x - self.origin
        z = centred @ self.basis
        residual = np.maximum(np.einsum("ij,ij->i", centred, centred) - np.einsum("ij,ij->i", z, z), 0.0)
        inner = self.inner.scores(np.ascontiguousarray(z, dtype=np.float64))
        return np.asarray(inner - 0.5 * residual[:, None] * self.residual_precision)

    def contributions(self, x: Any) -> Floats:
        centred = x - self.origin
        z = centred @ self.basis
        u = centred[:, None, :] - self.inner.mean @ self.basis.T
        residual = (centred - z @ self.basis.T)[:, None, :] * self.residual_precision[:, None]
        pulled = self.inner.pulled(z[:, None, :] - self.inner.mean) @ self.basis.T
        return np.asarray(-0.5 * u * (pulled + residual))


@dataclass(frozen=True)
class LowRankRule(Rule):
    """score_k(x) = offset_k - |u + V_k (gain_k V_k'u)|^2 / 2 with u = (x - mean_k) / root_k.

    For more columns than rows and a diagonal that differs from column to column.
    ``root`` is K x p, infinite for a column that says nothing; V_k = ``directions[k]`` is p x r_k, ``gain[k]`` r_k.
    """

    kind = "low rank"
    stored: ClassVar[Fields] = {
        "mean": COEF, "root": Array("K p", allowed=("inf",)), "directions": Many(Array("p *"), "K"),
        "gain": Many(Array("*"), "K"), "offset": OFFSET,
    }  # fmt: skip
    bulky = True

    mean: Floats
    root: Floats
    directions: tuple[Floats, ...]
    gain: tuple[Floats, ...]
    offset: Floats

    def check_stored(self, file: Incoming) -> None:  # noqa: ARG002 - letters cannot say it
        """Every class has a gain for each of its directions."""
        if any(d.shape[1] != len(g) for d, g in zip(self.directions, self.gain, strict=True)) or not self.root.all():
            raise damaged("gain", "does not go with the directions")

    def scores(self, x: NDArray[Any]) -> Floats:
        scores = np.repeat(self.offset[None], len(x), axis=0)
        for k in np.flatnonzero(~np.isneginf(self.offset)):
            u = (x - self.mean[k]) / self.root[k]
            u += ((u @ self.directions[k]) * self.gain[k]) @ self.directions[k].T
            scores[:, k] -= 0.5 * np.einsum("ij,ij->i", u, u)
        return scores

    def contributions(self, x: Any) -> Floats:
        parts = np.zeros((len(x), *self.mean.shape))
        for k in np.flatnonzero(~np.isneginf(self.offset)):
            u, v, gain = (x - self.mean[k]) / self.root[k], self.directions[k], self.gain[k]
            # I + V diag(gain) V' twice: the columns of V are orthonormal.
            parts[:, k] = -0.5 * u * (u + ((u @ v) * (2.0 * gain + gain**2)) @ v.T)
        return parts


@dataclass(frozen=True)
class StudentRule(Rule):
    """score_k(x) = offset_k - power_k log(1 + rate_k q_k(x)), with -q_k/2 the score of ``inner``.

    A Student-t in p columns with df degrees and scale matrix c A has power (df + p)/2 and, where q is taken
    by A, rate 1/(c df). An offset of -inf marks a class that cannot occur.
    """

    kind = "student"
    stored: ClassVar[Fields] = {
        "inner": Of(Rule, SAME), "offset": OFFSET, "power": Array("K", low=0.0), "rate": Array("K", low=0.0),
    }  # fmt: skip

    inner: QuadraticRule | ProjectedRule | LowRankRule
    offset: Floats
    power: Floats
    rate: Floats

    @property
    def bulky(self) -> bool:  # type: ignore[override]
        return self.inner.bulky

    def scores(self, x: NDArray[Any]) -> Floats:
        scores = self.inner.scores(x)
        scores *= -2.0 * self.rate
        np.log1p(scores, out=scores)
        scores *= -self.power
        scores += self.offset
        return scores


def score_rows(rule: Rule, x: Any, output: Output, dtype: type[Any] | None = None) -> Scored:
    """n x K scores or posteriors in the dtype of the rows (dense or sparse), or n class numbers, on all threads."""
    n, p = x.shape
    dtype = float_type(x) if dtype is None else dtype
    shape: Any = n if output is Output.BEST else (n, len(rule.constant))
    out: NDArray[Any] = np.empty(shape, dtype=np.int64 if output is Output.BEST else dtype)
    thin = hasattr(x, "indptr")
    if not out.size:
        # Nothing is scored, as by a transform without coordinates; bad values are still to be found.
        return out, bool(np.isfinite(x.data if thin else x).all())
    if output is Output.BEST and len(rule.constant) == 2:
        margin = rule.margin(x, (-1.0, 1.0))
        if margin is not None:
            return np.greater(margin, 0.0, out=out, casting="unsafe"), True
    if thin and rule.keeps_sparse:
        return out, rule.fill(x, output, out)
    if rule.reads == "mixed" or (not thin and 0 < n * p * rule.effort <= ALONE):
        ranges = [(0, n)]
    elif thin or rule.bulky:
        step = min(DENSE_ROWS, max(DENSE_SIZE // p, 1))
        ranges = [(start, min(start + step, n)) for start in range(0, n, step)]
    else:
        ranges = split(n, p)

    if len(ranges) == 1:
        return out, rule.fill(x.toarray() if thin else x, output, out)

    def task(i: int) -> bool:
        start, stop = ranges[i]
        part = x[start:stop]
        return rule.fill(part.toarray() if thin else part, output, out[start:stop])

    return out, all(run(task, len(ranges)))


def float_type(x: Any) -> type[Any]:
    return np.float32 if x.dtype == np.float32 else np.float64


def write_answers(scores: Floats, output: Output, out: NDArray[Any], axis: int = 1) -> None:
    """What is wanted of scores that may be -inf for some rows only, where no kernel takes them.

    Classes are along ``axis``; the scores are overwritten.
    """
    if output is Output.BEST:
        out[:] = scores.argmax(axis=axis)
        return
    if output is not Output.SCORES:
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is looked for by the caller
            scores -= scores.max(axis=axis, keepdims=True)
            chances = np.exp(scores)
            total = chances.sum(axis=axis, keepdims=True)
            scores = chances / total if output is Output.POSTERIOR else scores - np.log(total)
    out[:] = scores if axis == 1 else scores.T


def _finish(scores: Floats, possible: Mask, output: Output, out: NDArray[Any]) -> bool:
    """Scores that were not made by a kernel, turned by one into what is wanted of them."""
    # Scores stay in double precision until they are answers: their differences are what counts.
    single = out.dtype == np.float32
    answers = np.empty(out.shape) if single else out
    # The score -inf of an impossible class is an offset here: the kernel must not multiply it by zero.
    finite = kernels.score(
        scores, names.LINEAR, np.zeros(len(possible)), np.eye(len(possible)),
        np.where(possible, 0.0, -np.inf), False, output, answers,
    )  # fmt: skip
    if single:
        if output is Output.LOG_POSTERIOR:
            # In single precision a posterior within 2^-25 of one is one, and its logarithm zero.
            answers[answers > -(2.0**-25)] = 0.0
        with np.errstate(over="ignore", under="ignore"):
            out[:] = answers
    return finite


def as_one(coef: Any, intercept: Any) -> Floats:
    """``coef_`` (dense or sparse) and ``intercept_`` (numbers or one number) as one array, intercept first."""
    slopes = np.atleast_2d(np.asarray(coef if isinstance(coef, np.ndarray) else coef.toarray(), dtype=float))
    user = np.empty((len(slopes), slopes.shape[1] + 1))
    user[:, 0], user[:, 1:] = np.ravel(np.asarray(intercept, dtype=float)), slopes
    return user


def changed_coefficients(before: Floats | None, coef: Any, intercept: Any) -> Floats | None:
    """The same where they are not those of ``before``, since they were changed or set without a fit; else None."""
    if before is not None and isinstance(coef, np.ndarray) and coef.shape == (len(before), before.shape[1] - 1):
        same = bool((coef == before[:, 1:]).all()) and bool(np.all(intercept == before[:, 0]))
        return None if same else as_one(coef, intercept)
    user = as_one(coef, intercept)
    return None if before is not None and np.array_equal(user, before) else user


def written_rule(user: Floats) -> LinearRule:
    """The rule of coefficients as ``as_one`` gives them."""
    both = np.vstack([np.zeros_like(user), user]) if len(user) == 1 else user
    return LinearRule(np.ascontiguousarray(both[:, 1:]), both[:, 0].copy(), np.zeros(user.shape[1] - 1))
