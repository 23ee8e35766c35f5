"""The area under the ROC curve as a U statistic: its variance, and the test of two on the same rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from discrim import kernels
from discrim.evaluation.answers import checked_level, checked_scores, in_standard_errors, two_classes
from discrim.parallel import run
from discrim.typing import Floats


@dataclass(frozen=True, eq=False)
class AucComparison:
    """Two areas on the same rows, by DeLong, DeLong and Clarke-Pearson (1988).

    ``auc`` are both areas, ``difference`` is the first minus the second, ``statistic`` its ratio to ``std_error``,
    ``p_value`` two-sided. Two scores that order the rows alike differ by nothing: p is 1.
    """

    auc: tuple[float, float]
    difference: float
    std_error: float
    statistic: float
    p_value: float

    def ci(self, level: float = 0.95) -> tuple[float, float]:
        """Interval for the difference."""
        half = -special.ndtri(0.5 * (1.0 - checked_level(level))) * self.std_error
        return self.difference - half, self.difference + half

    def __repr__(self) -> str:
        low, high = self.ci()
        return (
            f"AUC {self.auc[0]:.4f} against {self.auc[1]:.4f}: difference {self.difference:.4f} "
            f"(95% {low:.4f} to {high:.4f}), z = {self.statistic:.3f}, p = {self.p_value:.3g}"
        )


def compare_auc(y: Any, score_a: Any, score_b: Any, *, positive: Any = None) -> AucComparison:
    """Paired test of whether two scores of the same rows have the same area under the ROC curve.

    With V_i the share of negatives below positive i and W_j the share of positives above negative j (ties count
    half), the difference of areas has variance Var(V^a - V^b) / m + Var(W^a - W^b) / n. Cost: two sorts.
    """
    is_positive, _ = two_classes(y, positive)
    scores = [checked_scores(s, len(is_positive), name) for s, name in ((score_a, "score_a"), (score_b, "score_b"))]
    a, b = (_in_order(score[is_positive], score[~is_positive]) for score in scores)
    auc = float(a[0].mean()), float(b[0].mean())
    variance = _variance_of_mean(a[0] - b[0]) + _variance_of_mean(a[1] - b[1])
    difference, std_error = auc[0] - auc[1], float(np.sqrt(variance))
    z = in_standard_errors(difference, std_error)
    return AucComparison(auc, difference, std_error, z, float(2 * special.ndtr(-abs(z))))


def sorted_placements(high: Floats, low: Floats) -> tuple[Floats, Floats]:
    """V (m) and W (n) of two ascending lists, the positives ``high`` and the negatives ``low``."""
    below, above = kernels.placements(high, low)
    below /= len(low)
    above /= len(high)
    return below, above


def sorted_apart(score: Floats, is_positive: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Scores of the positives and of the negatives, each ascending; the two are sorted at the same time."""
    parts = run(lambda i: np.sort(score[is_positive if i else ~is_positive]), 2)
    return parts[1], parts[0]


def auc_variance(v: Floats, w: Floats) -> float:
    """Var(V) / m + Var(W) / n; infinite where a class has a single row."""
    return _variance_of_mean(v) + _variance_of_mean(w)


def _in_order(high: Floats, low: Floats) -> tuple[Floats, Floats]:
    """V and W in the order of the rows."""
    orders = np.argsort(high), np.argsort(low)
    placed = sorted_placements(high[orders[0]], low[orders[1]])
    result = np.empty_like(high), np.empty_like(low)
    for values, order, at in zip(placed, orders, result, strict=True):
        at[order] = values
    return result


def _variance_of_mean(values: Floats) -> float:
    return float(values.var(ddof=1) / len(values)) if len(values) > 1 else float("inf")
