"""ROC curves over all thresholds of a score: their points and areas, and the test of two areas.

The area is a U statistic. DeLong, DeLong and Clarke-Pearson (1988) give its variance, and that of the difference of two
areas on the same rows; Hand and Till (2001) extend it to more than two classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from discrim import kernels
from discrim.errors import DataError, ParameterError, name_list
from discrim.evaluation.answers import checked_posterior, cumulated, in_standard_errors, scored
from discrim.evaluation.areas import area_interval, two_sizes
from discrim.evaluation.operating_points import Curve, Part, Steps, Wanted, draws_of
from discrim.inference.conjugate import tails
from discrim.inference.summary import Table
from discrim.later import cached_property
from discrim.parallel import run
from discrim.sources import check_weights
from discrim.typing import Floats

# Draws of a band; the Monte-Carlo error of its ends is then about a fiftieth of its width.
DRAWS = 2000


def roc(y: Any, score: Any, *, positive: Any = None, sample_weight: Any = None) -> ROC:
    """How well a score separates the ``positive`` class from the other, at every threshold.

    ``y`` has two classes, of which the larger label is positive unless one is named; larger scores speak for it.
    Cost: one sort.
    """
    is_positive, label, (values,) = scored(y, positive, score=score)
    return ROC(values, is_positive, label, check_weights(sample_weight, len(values)))


class ROC:
    """What ``roc`` gives.

    ``fpr`` and ``tpr`` are the shares of negatives and positives with a score of at least ``thresholds``, from
    (0, 0) at infinity to (1, 1), without points that lie on the line between their neighbours. ``auc`` is the
    probability that a positive scores higher than a negative, ties counted half.

    Examples
    --------
    >>> curve = roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> curve.auc
    0.75
    >>> curve.tpr
    array([0. , 0.5, 0.5, 1. , 1. ])
    """

    def __init__(self, score: Floats, is_positive: NDArray[np.bool_], positive: Any, weight: Floats | None) -> None:
        self.positive = positive
        self.n_positive = int(is_positive.sum())
        self.n_negative = len(is_positive) - self.n_positive
        self._is_positive, self._score = is_positive, score
        self._weighted: tuple[Floats, Floats, Floats] | None = None
        self._prevalence = float(np.average(is_positive, weights=weight))
        if weight is None:
            # Both are sorted at the same time.
            self._high, self._low = run(lambda i: np.sort(score[~is_positive if i else is_positive]), 2)
        else:
            self._weighted = _weighted_steps(score, is_positive, weight)

    @cached_property
    def auc(self) -> float:
        """Area under the curve."""
        if self._weighted is not None:
            fpr, tpr, _ = self._weighted
            return float(np.trapezoid(tpr, fpr))
        return float(self._placements[0].mean())

    @cached_property
    def auc_std_error(self) -> float:
        """Standard error of the area, by DeLong, DeLong and Clarke-Pearson (1988)."""
        if self._weighted is not None:
            raise DataError("There is no standard error for a weighted area. Leave the weights out.")
        if min(self.n_positive, self.n_negative) < 2:
            raise DataError("The standard error of the area needs at least two rows of each class.")
        return float(np.sqrt(auc_variance(*self._placements)))

    def auc_ci(
        self,
        level: float = 0.95,
        method: Literal["logit", "delong", "bootstrap"] = "logit",
        *,
        draws: int = DRAWS,
        seed: int = 0,
    ) -> tuple[float, float]:
        """Interval for the area.

        - "logit": log odds of the area -+ z standard errors, by DeLong's variance. It keeps its level where the area is
          near 1. Of fewer than 30 rows of a class that variance is uncertain itself and often too small; then it is
          averaged with the one that Hanley and McNeil (1982) give for an area and numbers of rows, which counts for 5
          rows. Where no row is out of place DeLong's is zero: then an area is in the interval if it is within z of its
          own standard errors of the estimate, by that of Hanley and McNeil (Newcombe, 2006).
        - "delong": area -+ z standard errors, cut at 0 and 1, which is pROC's.
        - "bootstrap": percentiles of ``draws`` samples with replacement within the classes. Cost: draws x n.
        """
        lower, upper = tails(level)
        if method == "bootstrap":
            low, high = np.quantile([curve.auc for curve in self._resampled(draws, seed)], [lower, upper])
            return float(low), float(high)
        auc, se = self.auc, self.auc_std_error
        if method == "delong":
            z = float(special.ndtri(upper))
            return max(auc - z * se, 0.0), min(auc + z * se, 1.0)
        if method != "logit":
            raise ParameterError.bad_value("method", method, "'logit', 'delong' or 'bootstrap'")
        return area_interval(auc, se, self.n_positive, self.n_negative, level)

    def coords(
        self,
        x: Any = "best",
        input: str = "threshold",  # noqa: A002 - pROC's name
        *,
        best_method: str = "youden",
        best_weights: tuple[float, float] | None = None,
    ) -> Table:
        """Points of the curve, as pROC's ``coords``: the best ones, or those at given numbers ``x``.

        ``x`` is "best" (all ties are given) or numbers on the scale of ``input``: "threshold" (rows that score at least
        as much are positive), "specificity" or "sensitivity" (between two points by linear interpolation).
        ``best_method`` is "youden", the largest sensitivity + specificity, or "closest.topleft", the least distance to
        the corner; ``best_weights`` are the cost of a missed positive, relative to a false alarm, and the prevalence.
        Thresholds are in the middle between two scores. ``accuracy``, ``ppv`` and ``npv`` are those of these rows.

        Examples
        --------
        >>> roc([0, 0, 1, 1, 1], [0.1, 0.4, 0.35, 0.8, 0.9]).coords()["threshold"]
        array([0.6])
        >>> roc([0, 0, 1, 1, 1], [0.1, 0.4, 0.35, 0.8, 0.9]).coords(0.5, input="specificity")["sensitivity"]
        array([1.])
        """
        wanted = Wanted.checked(x, input, best_method, best_weights)
        found, share = wanted.of(self._points), self._prevalence
        true, false = share * found[:, 2], (1.0 - share) * (1.0 - found[:, 1])
        with np.errstate(invalid="ignore"):
            ppv = true / (true + false)
            npv = (1.0 - share - false) / (1.0 - true - false)
        values = np.column_stack([found, true + 1.0 - share - false, ppv, npv])
        columns = ["threshold", "specificity", "sensitivity", "accuracy", "ppv", "npv"]
        return Table("Points of the ROC curve", _names_of(wanted, len(found)), columns, values)

    def ci_coords(
        self,
        x: Any = "best",
        input: str = "threshold",  # noqa: A002 - pROC's name
        *,
        best_method: str = "youden",
        best_weights: tuple[float, float] | None = None,
        level: float = 0.95,
        draws: int = DRAWS,
        seed: int = 0,
    ) -> Table:
        """Intervals of what ``coords`` gives: sensitivity at a fixed specificity, the best threshold, and so on.

        Percentiles of the bootstrap within classes; "best" is looked for again in each sample, and is the middle one of
        ties. Cost: draws x n.
        """
        wanted, ends = Wanted.checked(x, input, best_method, best_weights), tails(level)
        best = isinstance(wanted.x, str)
        pick = _middle if best else np.asarray
        samples = np.array([pick(wanted.of(curve)) for curve in self._resampled(draws, seed)])
        points = pick(wanted.of(self._points))
        names = ["threshold", "specificity", "sensitivity"]
        shown = [name for name in names if best or name not in {"threshold", wanted.input}]
        columns, values = [], []
        for name in shown:
            j = names.index(name)
            columns += [name, f"{name} lower", f"{name} upper"]
            # A threshold may be infinite: nothing is interpolated between two of them.
            how: Any = "closest_observation" if name == "threshold" else "linear"
            values += [points[:, j], *np.quantile(samples[:, :, j], ends, axis=0, method=how)]
        title = f"Points of the ROC curve with intervals of level {level:g}"
        return Table(title, _names_of(wanted, len(points)), columns, np.column_stack(values))

    def partial_auc(
        self,
        bounds: tuple[float, float] = (1.0, 0.9),
        focus: Literal["specificity", "sensitivity"] = "specificity",
        *,
        correct: bool = False,
    ) -> float:
        """The area where the specificity, or the sensitivity, is between ``bounds``.

        ``correct`` scales it so that 1/2 is the area of chance and 1 that of a perfect score (McClish, 1989).
        """
        return Part.checked(bounds, focus, correct).area(self._points.fpr, self._points.tpr)

    def partial_auc_ci(
        self,
        bounds: tuple[float, float] = (1.0, 0.9),
        focus: Literal["specificity", "sensitivity"] = "specificity",
        *,
        correct: bool = False,
        level: float = 0.95,
        draws: int = DRAWS,
        seed: int = 0,
    ) -> tuple[float, float]:
        """Interval for the partial area: percentiles of the bootstrap within classes. Cost: draws x n."""
        part = Part.checked(bounds, focus, correct)
        areas = [part.area(curve.fpr, curve.tpr) for curve in self._resampled(draws, seed)]
        low, high = np.quantile(areas, tails(level))
        return float(low), float(high)

    @property
    def fpr(self) -> Floats:
        return self._curve[0]

    @property
    def tpr(self) -> Floats:
        return self._curve[1]

    @property
    def thresholds(self) -> Floats:
        return self._curve[2]

    def sensitivity_at(self, specificity: Any) -> Any:
        """Sensitivity at this specificity, interpolated linearly between points."""
        return np.interp(1.0 - np.asarray(specificity, dtype=np.float64), self.fpr, self.tpr)[()]

    def band(
        self, specificity: Any = None, level: float = 0.95, *, draws: int = DRAWS, seed: int = 0
    ) -> tuple[Floats, Floats, Floats]:
        """Pointwise intervals for the sensitivity at given specificities (101 from 0 to 1 by default).

        Percentiles of the bootstrap within classes. No row is drawn: the k-th of n resampled negatives is the
        original one at rank n Beta(k, n - k + 1), and of the positives above it a binomial number is drawn again.
        Cost: draws x points.
        """
        if self._weighted is not None:
            raise DataError("A band needs rows without weights.")
        ends = tails(level)
        at = np.linspace(0, 1, 101) if specificity is None else np.atleast_1d(np.asarray(specificity, np.float64))
        rng = np.random.default_rng(seed)
        m, n = self.n_positive, self.n_negative
        k = np.clip(np.ceil(at * n), 1, n)
        rank = np.ceil(n * rng.beta(k, n - k + 1, size=(draws, len(at)))).astype(np.int64) - 1
        thresholds = self._low[np.clip(rank, 0, n - 1)]
        found = m - 0.5 * (
            np.searchsorted(self._high, thresholds, "left") + np.searchsorted(self._high, thresholds, "right")
        )
        sensitivity = rng.binomial(m, np.clip(found / m, 0, 1)) / m
        low, high = np.quantile(sensitivity, ends, axis=0)
        # At specificity 0 every positive is found.
        at_zero = at <= 0
        return at, np.where(at_zero, 1.0, low), np.where(at_zero, 1.0, high)

    def plot(self, **options: Any) -> Any:
        """The curve with its band, as matplotlib axes: ``discrim.plots.roc`` with its options."""
        from discrim import plots

        return plots.roc(self, **options)

    def __repr__(self) -> str:
        head = f"ROC of '{self.positive}': {self.n_positive} positive and {self.n_negative} negative rows, AUC "
        if self._weighted is not None or min(self.n_positive, self.n_negative) < 2:
            return f"{head}{self.auc:.4f}"
        low, high = self.auc_ci()
        return f"{head}{self.auc:.4f} (95% {low:.4f} to {high:.4f})"

    @property
    def rows(self) -> tuple[NDArray[np.bool_], Floats]:
        """Which rows are positive, and their scores, in the order in which they were given."""
        return self._is_positive, self._score

    @cached_property
    def steps(self) -> Steps:
        """The distinct scores, and the place of every row among them."""
        if self._weighted is not None:
            raise DataError("Rows with weights are not drawn again. Leave the weights out.")
        is_positive, score = self.rows
        return Steps.of(score[is_positive], score[~is_positive])

    @cached_property
    def _points(self) -> Curve:
        """All points of the curve, those on a line too."""
        if self._weighted is not None:
            fpr, tpr, values = self._weighted
            return Curve(fpr, tpr, values[1:])
        return self.steps.curve(self.steps.positives, self.steps.negatives)

    def _resampled(self, draws: int, seed: int) -> Iterator[Curve]:
        """Curves of rows drawn with replacement within the classes."""
        steps = self.steps
        for high, low in draws_of(self.n_positive, self.n_negative, draws, seed):
            yield steps.curve(steps.positives[high], steps.negatives[low])

    @cached_property
    def _placements(self) -> tuple[Floats, Floats]:
        return sorted_placements(self._high, self._low)

    @cached_property
    def _curve(self) -> tuple[Floats, Floats, Floats]:
        if self._weighted is not None:
            return _corners(*self._weighted)
        values = np.unique(np.concatenate([self._high, self._low]))[::-1]
        fpr = 1.0 - np.searchsorted(self._low, values, "left") / self.n_negative
        tpr = 1.0 - np.searchsorted(self._high, values, "left") / self.n_positive
        return _corners(*(np.concatenate([[start], part]) for start, part in ((0, fpr), (0, tpr), (np.inf, values))))


def _names_of(wanted: Wanted, count: int) -> list[str]:
    """The rows of a table of points."""
    if isinstance(wanted.x, str):
        return ["best"] if count == 1 else [f"best {i + 1}" for i in range(count)]
    return [f"{wanted.input} {x:g}" for x in wanted.x]


def _middle(points: Floats) -> Floats:
    """Of points that are equally good the one in the middle."""
    return points[len(points) // 2 :][:1]


def _weighted_steps(score: Floats, is_positive: NDArray[np.bool_], weight: Floats) -> tuple[Floats, Floats, Floats]:
    values, *parts = cumulated(-score, weight * ~is_positive, weight * is_positive)
    if parts[0][-1] <= 0 or parts[1][-1] <= 0:
        raise DataError("All rows of one class have the weight zero; a curve needs rows of two classes.")
    fpr, tpr = (np.concatenate([[0.0], part / part[-1]]) for part in parts)
    return fpr, tpr, np.concatenate([[np.inf], -values])


def _corners(fpr: Floats, tpr: Floats, thresholds: Floats) -> tuple[Floats, Floats, Floats]:
    """Without points between two that lie on one horizontal or vertical line with them."""
    if len(fpr) > 2:
        keep = np.ones(len(fpr), dtype=bool)
        keep[1:-1] = ((np.diff(fpr)[:-1] != 0) | (np.diff(fpr)[1:] != 0)) & (
            (np.diff(tpr)[:-1] != 0) | (np.diff(tpr)[1:] != 0)
        )
        fpr, tpr, thresholds = fpr[keep], tpr[keep], thresholds[keep]
    return fpr, tpr, thresholds


@dataclass(frozen=True, eq=False)
class AucComparison:
    """Two areas, by DeLong, DeLong and Clarke-Pearson (1988) or by the bootstrap.

    ``auc`` are both areas, ``difference`` is the first minus the second, ``statistic`` its ratio to ``std_error``,
    ``p_value`` two-sided. Two scores that order the rows alike differ by nothing: p is 1. ``paired`` says whether they
    are scores of the same rows; ``df`` are the degrees of freedom of Student's t, infinite for the normal.
    """

    auc: tuple[float, float]
    difference: float
    std_error: float
    statistic: float
    p_value: float
    paired: bool = True
    method: str = "delong"
    df: float = np.inf

    @classmethod
    def of(cls, auc: tuple[float, float], std_error: float, **more: Any) -> AucComparison:
        """The test of the difference with this standard error."""
        difference = auc[0] - auc[1]
        statistic, df = in_standard_errors(difference, std_error), more.get("df", np.inf)
        tail = special.stdtr(df, -abs(statistic)) if np.isfinite(df) else special.ndtr(-abs(statistic))
        return cls(auc, difference, std_error, statistic, float(2 * tail), **more)

    def ci(self, level: float = 0.95) -> tuple[float, float]:
        """Interval for the difference."""
        upper = tails(level)[1]
        half = float(special.stdtrit(self.df, upper) if np.isfinite(self.df) else special.ndtri(upper)) * self.std_error
        return self.difference - half, self.difference + half

    def __repr__(self) -> str:
        low, high = self.ci()
        letter = "t" if np.isfinite(self.df) else "z"
        return (
            f"AUC {self.auc[0]:.4f} against {self.auc[1]:.4f}: difference {self.difference:.4f} "
            f"(95% {low:.4f} to {high:.4f}), {letter} = {self.statistic:.3f}, p = {self.p_value:.3g}"
        )


def compare_auc(
    y: Any,
    score_a: Any,
    score_b: Any = None,
    *,
    positive: Any = None,
    paired: bool | None = None,
    method: Literal["delong", "bootstrap"] = "delong",
    bounds: tuple[float, float] | None = None,
    seed: int = 0,
) -> AucComparison:
    """Test of whether two areas under the ROC curve are the same: of two scores of the same rows, or of two curves.

    ``compare_auc(y, score_a, score_b)``, or ``compare_auc(roc_a, roc_b)`` with what ``roc`` gave. Two curves are paired
    if the same rows are positive in both, in the same order, unless ``paired`` says otherwise.

    With V_i the share of negatives below positive i and W_j the share of positives above negative j (ties count
    half), the difference of areas has variance Var(V^a - V^b) / m + Var(W^a - W^b) / n; where other rows were scored,
    the sum of both variances, with Student's t and Satterthwaite's degrees of freedom. ``method="bootstrap"`` has the
    standard deviation of the difference in 2,000 samples within classes instead; with ``bounds`` the areas are those
    between two specificities (see ``ROC.partial_auc``). Cost: two sorts, or 2,000 n.

    Examples
    --------
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> compare_auc(y, [1, 2, 4, 3, 5, 6], [1, 3, 6, 2, 5, 4]).difference.__round__(4)
    0.3333
    >>> compare_auc(roc(y, [1, 2, 4, 3, 5, 6]), roc([0, 1, 0, 1], [1, 2, 3, 4])).paired
    False
    """
    if isinstance(y, ROC) != isinstance(score_a, ROC) or (isinstance(y, ROC) == (score_b is not None)):
        raise ParameterError("compare_auc() takes labels and two scores, or two curves of roc() and nothing else.")
    if method not in ("delong", "bootstrap"):
        raise ParameterError.bad_value("method", method, "'delong' or 'bootstrap'")
    if bounds is not None and method != "bootstrap":
        raise ParameterError("There is no formula for partial areas. Use method='bootstrap' with 'bounds'.")
    if isinstance(y, ROC):
        a, b = y, score_a
    else:
        is_positive, label, scores = scored(y, positive, score_a=score_a, score_b=score_b)
        if method == "delong" and paired in (None, True):
            return _paired(is_positive, *scores)
        a, b = (ROC(score, is_positive, label, None) for score in scores)
    same = np.array_equal(a.rows[0], b.rows[0])
    if paired and not same:
        raise ParameterError("A paired test needs scores of the same rows in the same order; these have other labels.")
    paired = same if paired is None else paired
    if method == "bootstrap":
        part = None if bounds is None else Part.checked(bounds, "specificity", corrected=False)
        return _by_bootstrap(a, b, part, paired=paired, seed=seed)
    return _paired(a.rows[0], a.rows[1], b.rows[1]) if paired else _unpaired(a, b)


def _paired(is_positive: NDArray[np.bool_], score_a: Floats, score_b: Floats) -> AucComparison:
    a, b = (_in_order(score[is_positive], score[~is_positive]) for score in (score_a, score_b))
    auc = float(a[0].mean()), float(b[0].mean())
    return AucComparison.of(auc, float(np.sqrt(auc_variance(a[0] - b[0], a[1] - b[1]))))


def _unpaired(a: ROC, b: ROC) -> AucComparison:
    variances = a.auc_std_error**2, b.auc_std_error**2
    rows = a.n_positive + a.n_negative - 1, b.n_positive + b.n_negative - 1
    parts = variances[0] ** 2 / rows[0] + variances[1] ** 2 / rows[1]
    df = sum(variances) ** 2 / parts if parts > 0 else np.inf
    return AucComparison.of((a.auc, b.auc), float(np.sqrt(sum(variances))), paired=False, df=df)


def _by_bootstrap(a: ROC, b: ROC, part: Part | None, *, paired: bool, seed: int) -> AucComparison:
    def area(curve: Curve) -> float:
        return curve.auc if part is None else part.area(curve.fpr, curve.tpr)

    first = draws_of(a.n_positive, a.n_negative, DRAWS, seed)
    second = draws_of(b.n_positive, b.n_negative, DRAWS, seed if paired else seed + 1)
    found = [
        area(a.steps.curve(a.steps.positives[p], a.steps.negatives[n]))
        - area(b.steps.curve(b.steps.positives[q], b.steps.negatives[m]))
        for (p, n), (q, m) in zip(first, second, strict=True)
    ]
    whole = tuple(area(curve.steps.curve(curve.steps.positives, curve.steps.negatives)) for curve in (a, b))
    return AucComparison.of((whole[0], whole[1]), float(np.std(found, ddof=1)), paired=paired, method="bootstrap")


def sorted_placements(high: Floats, low: Floats) -> tuple[Floats, Floats]:
    """V (m) and W (n) of two ascending lists, the positives ``high`` and the negatives ``low``."""
    below, above = kernels.placements(high, low)
    below /= len(low)
    above /= len(high)
    return below, above


def auc_variance(v: Floats, w: Floats) -> float:
    """Var(V) / m + Var(W) / n; infinite where a class has a single row."""
    parts = [values.var(ddof=1) / len(values) if len(values) > 1 else np.inf for values in (v, w)]
    return float(sum(parts))


def _in_order(high: Floats, low: Floats) -> tuple[Floats, Floats]:
    """V and W in the order of the rows."""
    orders = np.argsort(high), np.argsort(low)
    placed = sorted_placements(high[orders[0]], low[orders[1]])
    result = np.empty_like(high), np.empty_like(low)
    for values, order, at in zip(placed, orders, result, strict=True):
        at[order] = values
    return result


def multiclass_auc(y: Any, posterior: Any, classes: Any = None) -> float:
    """Hand and Till's M (2001): the mean over all pairs of classes of how well these two are separated.

    For a pair (j, k) it is the mean of two areas among the rows of these classes: of the posterior of j, with j
    positive, and of the posterior of k, with k positive. Insensitive to how frequent the classes are; for two
    classes with posteriors that sum to one it is the area under the ROC curve. Cost: K (K - 1) sorts of two classes.
    """
    known, codes, p = checked_posterior(y, posterior, classes)
    present = [k for k in range(len(known)) if (codes == k).any()]
    if len(present) < 2:
        raise DataError(f"y has only the class {name_list(known[present])}; an area needs rows of two classes.")
    columns = [[np.sort(p[codes == of, k]) for of in present] for k in present]
    areas = [
        0.5 * (_area(columns[a][a], columns[a][b]) + _area(columns[b][b], columns[b][a]))
        for a, b in combinations(range(len(present)), 2)
    ]
    return float(np.mean(areas))


def _area(high: Any, low: Any) -> float:
    return float(sorted_placements(high, low)[0].mean())


def multiclass_auc_ci(y: Any, posterior: Any, classes: Any = None, level: float = 0.95) -> tuple[float, float]:
    """Interval for Hand and Till's M on the scale of log odds.

    M is a mean of areas, each the mean over pairs of rows of two classes. With U_i the part of M that a row of class k
    contributes by all areas in which its class takes part, the variance of M is sum_k Var(U_i) / n_k, which for two
    classes is DeLong's. Cost: K (K - 1) sorts of two classes.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.repeat([0, 1, 2], 10)
    >>> p = np.eye(3)[y] * 0.4 + 0.2
    >>> low, high = multiclass_auc_ci(y, p)
    >>> round(low, 2), high
    (0.86, 1.0)
    """
    known, codes, p = checked_posterior(y, posterior, classes)
    sizes = np.bincount(codes, minlength=len(known))
    present = np.flatnonzero(sizes)
    if len(present) < 2 or sizes[present].min() < 2:
        raise DataError("An interval for the area needs two classes at least, and two rows of each class.")
    pairs = list(combinations(present, 2))
    parts = {k: np.zeros(sizes[k]) for k in present}
    total = 0.0
    for pair in pairs:
        for own, other in (pair, pair[::-1]):
            high, low = p[codes == own, own], p[codes == other, own]
            v, w = _in_order(high, low)
            total += 0.5 * float(v.mean()) / len(pairs)
            parts[own] += 0.5 * v / len(pairs)
            parts[other] += 0.5 * w / len(pairs)
    std_error = float(np.sqrt(sum(values.var(ddof=1) / len(values) for values in parts.values())))
    return area_interval(total, std_error, *two_sizes(sizes), level)
