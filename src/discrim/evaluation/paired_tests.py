"""Is one model better than another on the same rows, or folds?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from discrim.errors import DataError, ParameterError, plural
from discrim.evaluation.answers import in_standard_errors
from discrim.inference.conjugate import tails


@dataclass(frozen=True)
class McNemar:
    """``only_a`` rows only the first model has right, ``only_b`` only the second; ``p_value`` two-sided.

    ``exact`` says whether it is the binomial probability (up to 50 rows that differ), or the chi-squared
    approximation with continuity correction, whose value is ``statistic``.
    """

    only_a: int
    only_b: int
    statistic: float
    p_value: float
    exact: bool


def mcnemar(y: Any, predicted_a: Any, predicted_b: Any, *, exact: bool | None = None) -> McNemar:
    """McNemar's test of two classifiers on the same rows: do they err equally often?"""
    truth, a, b = (np.asarray(values) for values in (y, predicted_a, predicted_b))
    if truth.ndim != 1 or truth.shape != a.shape or truth.shape != b.shape:
        sizes = ", ".join(str(values.size) for values in (truth, a, b))
        raise DataError(
            f"y and both models' predictions must be 1-D arrays of equal length; they have {sizes} entries."
        )
    right_a, right_b = a == truth, b == truth
    only_a, only_b = int((right_a & ~right_b).sum()), int((right_b & ~right_a).sum())
    differ = only_a + only_b
    statistic = max(abs(only_a - only_b) - 1, 0) ** 2 / differ if differ else 0.0
    by_binomial = differ <= 50 if exact is None else exact
    if not differ:
        return McNemar(0, 0, 0.0, 1.0, exact=by_binomial)
    if by_binomial:
        p_value = min(1.0, 2.0 * float(special.bdtr(min(only_a, only_b), differ, 0.5)))
    else:
        p_value = float(special.chdtrc(1, statistic))
    return McNemar(only_a, only_b, float(statistic), p_value, exact=by_binomial)


@dataclass(frozen=True)
class ResampledT:
    """Mean ``difference`` of two models over resamples, its corrected ``std_error``, t ``statistic`` on ``df``."""

    difference: float
    std_error: float
    statistic: float
    df: int
    p_value: float

    def ci(self, level: float = 0.95) -> tuple[float, float]:
        half = float(special.stdtrit(self.df, tails(level)[1])) * self.std_error
        return self.difference - half, self.difference + half


def resampled_t(score_a: Any, score_b: Any, *, test_share: float) -> ResampledT:
    """Nadeau and Bengio's corrected resampled t-test (2003) of two models' scores on the same resamples or folds.

    Training parts overlap, so the variance of the mean difference is s^2 (1 / r + n_test / n_train), not s^2 / r.
    ``test_share`` is the share of rows that each resample holds out: 0.1 for ten folds.
    """
    a, b = (np.asarray(values, dtype=np.float64) for values in (score_a, score_b))
    if a.ndim != 1 or a.shape != b.shape or len(a) < 2:
        raise DataError(
            "Two 1-D arrays of equal length, with at least two scores each, are needed; found "
            f"{a.size} and {plural(b.size, 'score')}."
        )
    if not 0.0 < test_share < 1.0:
        raise ParameterError.bad_value("test_share", test_share, "between 0 and 1")
    gap = a - b
    r, difference = len(gap), float(gap.mean())
    std_error = float(np.sqrt(gap.var(ddof=1) * (1.0 / r + test_share / (1.0 - test_share))))
    t = in_standard_errors(difference, std_error)
    return ResampledT(difference, std_error, t, r - 1, float(2 * special.stdtr(r - 1, -abs(t))))
