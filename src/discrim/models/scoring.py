"""Rules applied to rows, in blocks, on all threads."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discrim import _kernels
from discrim.engines import run, split
from discrim.errors import DataError
from discrim.models.expansion import QuadraticRows
from discrim.solvers.rules import DiagonalRule, LinearRule, ProjectedRule, QuadraticRule, Rule
from discrim.sources import Rows, find_non_finite

# Rows of a sparse or projected block that are made dense at once.
DENSE_ROWS = 4096


class Output(IntEnum):
    """What is wanted of the scores."""

    SCORES = _kernels.SCORES
    BEST = _kernels.BEST
    POSTERIOR = _kernels.POSTERIOR
    LOG_POSTERIOR = _kernels.LOG_POSTERIOR


def apply_rule(rule: Rule, rows: Rows, output: Output) -> NDArray[Any]:
    """n x K scores or posteriors in the dtype of the rows, or n class numbers.

    Cost: n p K for linear and diagonal rules, n p^2 K / 2 for quadratic ones.
    """
    if rows.whole is not None:
        result, finite = _score_array(rule, rows.whole.x, output)
    else:
        parts = [_score_array(rule, block.x, output) for block in rows.blocks()]
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


def _score_array(rule: Rule, x: Any, output: Output) -> tuple[NDArray[Any], bool]:
    n, p = x.shape
    dtype = np.float32 if x.dtype == np.float32 else np.float64
    out: NDArray[Any] = (
        np.empty(n, dtype=np.int64) if output is Output.BEST else np.empty((n, _n_classes(rule)), dtype=dtype)
    )
    if not out.size:
        # Nothing is scored, as by a transform without coordinates; bad values are still to be found.
        return out, bool(np.isfinite(x.data if sparse.issparse(x) else x).all())
    if sparse.issparse(x) or isinstance(rule, ProjectedRule):
        starts = range(0, n, DENSE_ROWS)
        ranges = [(start, min(start + DENSE_ROWS, n)) for start in starts]
    else:
        ranges = split(n, p)

    def task(i: int) -> bool:
        start, stop = ranges[i]
        part = x[start:stop]
        dense = part.toarray() if sparse.issparse(part) else part
        return _score_block(rule, dense, output, out[start:stop])

    finite = all(run(task, len(ranges)))
    return out, finite


def _score_block(rule: Rule, x: NDArray[Any], output: Output, out: NDArray[Any]) -> bool:
    if isinstance(rule, LinearRule):
        return _kernels.score(x, _kernels.LINEAR, rule.origin, rule.coef, rule.offset, False, output, out)
    if isinstance(rule, DiagonalRule):
        return _kernels.score(
            x, _kernels.DIAGONAL_RULE, rule.mean, rule.precision, rule.offset, False, output, out
        )
    if isinstance(rule, QuadraticRule):
        return _kernels.score(
            x, _kernels.QUADRATIC, rule.mean, rule.factor, rule.offset, rule.triangular, output, out
        )
    return _score_projected(rule, x, output, out)


def _score_projected(rule: ProjectedRule, x: NDArray[Any], output: Output, out: NDArray[Any]) -> bool:
    """The residual enters the inner rule as one more coordinate a class, through its offset."""
    centred = x - rule.origin
    z = centred @ rule.basis
    residual = np.maximum(np.einsum("ij,ij->i", centred, centred) - np.einsum("ij,ij->i", z, z), 0.0)
    scores = np.empty((len(x), len(rule.inner.offset)))
    finite = _score_block(rule.inner, np.ascontiguousarray(z, dtype=np.float64), Output.SCORES, scores)
    scores -= 0.5 * residual[:, None] * rule.residual_precision
    _kernels.score(
        scores, _kernels.LINEAR, np.zeros(scores.shape[1]), np.eye(scores.shape[1]), np.zeros(scores.shape[1]),
        False, output, out,
    )  # fmt: skip
    return finite


def _n_classes(rule: Rule) -> int:
    return len(rule.inner.offset) if isinstance(rule, ProjectedRule) else len(rule.offset)
