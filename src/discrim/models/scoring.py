"""Rules applied to rows, in blocks, on all threads."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discrim import kernels
from discrim.errors import DataError
from discrim.models.expansion import QuadraticRows
from discrim.parallel import run, split
from discrim.solvers.rules import (
    DiagonalRule,
    LinearRule,
    LowRankRule,
    ProjectedRule,
    QuadraticRule,
    Rule,
    StudentRule,
)
from discrim.solvers.sparse_scores import can_stay_sparse, score_sparse
from discrim.sources import Rows, find_non_finite

# Rows of a sparse or projected block that are made dense at once, and the numbers that these may have.
DENSE_ROWS = 4096
DENSE_SIZE = 1 << 20


# Values, and whether every row has a finite score.
Scored = tuple[NDArray[Any], bool]


class Output(IntEnum):
    """What is wanted of the scores."""

    SCORES = kernels.SCORES
    BEST = kernels.BEST
    POSTERIOR = kernels.POSTERIOR
    LOG_POSTERIOR = kernels.LOG_POSTERIOR


def apply_rule(rule: Rule, rows: Rows, output: Output) -> NDArray[Any]:
    """n x K scores or posteriors in the dtype of the rows, or n class numbers.

    Cost: n p K for linear and diagonal rules, n p^2 K / 2 for quadratic ones.
    """
    return _over_blocks(rows, lambda x: _score_array(rule, x, output, _float_type(x)))


def score_margin(rule: Rule, rows: Rows) -> NDArray[Any]:
    """The score of the second of two classes minus that of the first, taken in double precision."""

    def of(x: Any) -> Scored:
        scores, finite = _score_array(rule, x, Output.SCORES, np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            return (scores[:, 1] - scores[:, 0]).astype(_float_type(x)), finite

    return _over_blocks(rows, of)


def _over_blocks(rows: Rows, of: Callable[[Any], Scored]) -> NDArray[Any]:
    if rows.whole is not None:
        result, finite = of(rows.whole.x)
    else:
        parts = [of(block.x) for block in rows.blocks()]
        result = np.concatenate([values for values, _ in parts])
        finite = all(fine for _, fine in parts)
    if not finite:
        raise non_finite_error(rows) or DataError(
            "The scores of some rows overflow: X holds NaN, infinity, or values too large to be squared. "
            "Clean the rows, or scale the columns before fitting."
        )
    return result


def non_finite_error(rows: Rows) -> DataError | None:
    """The error that names the columns with NaN or infinity, as the user knows them; None if there are none."""
    original = rows.inner if isinstance(rows, QuadraticRows) else rows
    return find_non_finite(original) if original.rereadable else None


def _float_type(x: Any) -> type[Any]:
    return np.float32 if x.dtype == np.float32 else np.float64


def _score_array(rule: Rule, x: Any, output: Output, dtype: type[Any]) -> Scored:
    n, p = x.shape
    out: NDArray[Any] = (
        np.empty(n, dtype=np.int64) if output is Output.BEST else np.empty((n, len(_offset(rule))), dtype=dtype)
    )
    if not out.size:
        # Nothing is scored, as by a transform without coordinates; bad values are still to be found.
        return out, bool(np.isfinite(x.data if hasattr(x, "indptr") else x).all())
    if sparse.issparse(x) and isinstance(rule, LinearRule) and can_stay_sparse(rule):
        return out, score_sparse(rule, x, output, out)
    inner = rule.inner if isinstance(rule, StudentRule) else rule
    if sparse.issparse(x) or isinstance(inner, (ProjectedRule, LowRankRule)):
        step = min(DENSE_ROWS, max(DENSE_SIZE // p, 1))
        ranges = [(start, min(start + step, n)) for start in range(0, n, step)]
    else:
        ranges = split(n, p)

    def task(i: int) -> bool:
        start, stop = ranges[i]
        part = x[start:stop]
        dense = part if isinstance(part, np.ndarray) else part.toarray()
        return _score_block(rule, dense, output, out[start:stop])

    finite = all(run(task, len(ranges)))
    return out, finite


def _score_block(rule: Rule, x: NDArray[Any], output: Output, out: NDArray[Any]) -> bool:
    if isinstance(rule, LinearRule):
        if rule.threshold is not None:
            with np.errstate(invalid="ignore"):  # what is not finite stays so
                x = (x > rule.threshold) + (x - x)
        return kernels.score(x, kernels.LINEAR, rule.origin, rule.coef, rule.offset, False, output, out)
    if isinstance(rule, DiagonalRule):
        return kernels.score(x, kernels.DIAGONAL_RULE, rule.mean, rule.precision, rule.offset, False, output, out)
    if isinstance(rule, QuadraticRule):
        return kernels.score(x, kernels.QUADRATIC, rule.mean, rule.factor, rule.offset, rule.triangular, output, out)
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is looked for by the caller
        possible = ~np.isneginf(_offset(rule))
        if isinstance(rule, StudentRule):
            scores = _student_scores(rule, x)
        else:
            scores = _low_rank_scores(rule, x) if isinstance(rule, LowRankRule) else _projected_scores(rule, x)
    return _finish(np.where(possible, scores, 0.0), possible, output, out)


def _finish(scores: NDArray[np.float64], possible: NDArray[np.bool_], output: Output, out: NDArray[Any]) -> bool:
    """Scores that were not made by a kernel, turned by one into what is wanted of them."""
    # Scores stay in double precision until they are answers: their differences are what counts.
    single = out.dtype == np.float32
    answers = np.empty(out.shape) if single else out
    # The score -inf of an impossible class is an offset here: the kernel must not multiply it by zero.
    finite = kernels.score(
        scores, kernels.LINEAR, np.zeros(len(possible)), np.eye(len(possible)),
        np.where(possible, 0.0, -np.inf), False, output, answers,
    )  # fmt: skip
    if single:
        if output is Output.LOG_POSTERIOR:
            # In single precision a posterior within 2^-25 of one is one, and its logarithm zero.
            answers[answers > -(2.0**-25)] = 0.0
        with np.errstate(over="ignore", under="ignore"):
            out[:] = answers
    return finite


def _low_rank_scores(rule: LowRankRule, x: NDArray[Any]) -> NDArray[np.float64]:
    scores = np.repeat(rule.offset[None], len(x), axis=0)
    for k in np.flatnonzero(~np.isneginf(rule.offset)):
        u = (x - rule.mean[k]) / rule.root[k]
        u += ((u @ rule.directions[k]) * rule.gain[k]) @ rule.directions[k].T
        scores[:, k] -= 0.5 * np.einsum("ij,ij->i", u, u)
    return scores


def _projected_scores(rule: ProjectedRule, x: NDArray[Any]) -> NDArray[np.float64]:
    """The residual enters the inner rule as one more coordinate a class, through its offset."""
    centred = x - rule.origin
    z = centred @ rule.basis
    residual = np.maximum(np.einsum("ij,ij->i", centred, centred) - np.einsum("ij,ij->i", z, z), 0.0)
    scores = np.empty((len(x), len(rule.inner.offset)))
    _score_block(rule.inner, np.ascontiguousarray(z, dtype=np.float64), Output.SCORES, scores)
    return np.asarray(scores - 0.5 * residual[:, None] * rule.residual_precision)


def _student_scores(rule: StudentRule, x: NDArray[Any]) -> NDArray[np.float64]:
    scores = np.empty((len(x), len(rule.offset)))
    _score_block(rule.inner, x, Output.SCORES, scores)
    scores *= -2.0 * rule.rate
    np.log1p(scores, out=scores)
    scores *= -rule.power
    scores += rule.offset
    return scores


def _offset(rule: Rule) -> NDArray[np.float64]:
    return rule.inner.offset if isinstance(rule, ProjectedRule) else rule.offset
