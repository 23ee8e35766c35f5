"""Nearest centroids, and nearest shrunken centroids: classes of one spread a column, some columns left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.errors import DataError, ParameterError, PriorsWarning
from discrim.families.gaussian.recipe import GaussianRecipe, Statistic, about_columns, possible_logs, refuse_single_rows
from discrim.families.population import GaussianPopulation
from discrim.families.priors import given_priors
from discrim.families.recipe import (
    Grid,
    Losses,
    Passes,
    Reduction,
    Remark,
    Search,
    Selection,
    Shape,
    Solved,
    row_losses,
)
from discrim.families.rule import COEF, OFFSET, SAME, DiagonalRule, LinearRule, Output, Rule
from discrim.later import cached_property
from discrim.statistics import ClassMoments, Depth, MomentsOf
from discrim.statistics.moments import grand_mean
from discrim.store.fields import Array, Fields, Flag, Optional
from discrim.store.kinds import Of
from discrim.typing import Floats

# Thresholds on the path, evenly from 0 to where no column is left.
PATH = 30
# Scores of held-out rows that are made at once.
MOST_SCORES = 1 << 20
CONSTANT = "have zero standard deviation within the classes, so that their distances count in the columns' own units."


@dataclass(frozen=True, eq=False)
class NearestCentroidRecipe(GaussianRecipe):
    """The class with the nearest centroid, each drawn towards the mean of all rows by a soft threshold.

    With s_j^2 = sum_k S_kj / (n - K), s_0 the median of the s_j and m_k^2 = 1/n_k - 1/n, a centroid deviates by
    d_kj = (mu_kj - mu_j) / (m_k (s_j + s_0)); what is left of d_kj is sign(d_kj) (|d_kj| - threshold)_+.
    """

    assumptions: ClassVar[tuple[str, ...]] = ("normal", "equal covariances", "independent")
    thin_for_wide: ClassVar[bool] = False

    metric: str = "euclidean"
    shrink_threshold: Any = None
    rule: Literal["scikit-learn", "pamr"] = "scikit-learn"
    thresholds: Any = None
    cv: Any = 10
    selection: Selection = "min"

    def depth(self) -> Depth:
        return Depth.DIAGONAL

    @property
    def needs_rows(self) -> bool:
        return self.metric == "manhattan" or self.search() is not None

    @property
    def needs_units(self) -> bool:
        return True

    def search(self) -> Search | None:
        return Search("cv", self.cv, self.selection) if isinstance(self.shrink_threshold, str) else None

    def grid(self, statistic: Statistic) -> CentroidGrid:
        if self.thresholds is not None:
            values = np.sort(np.asarray(self.thresholds, dtype=np.float64))[::-1]
        else:
            values = np.linspace(self.deviations(statistic).largest, 0.0, PATH)
        return CentroidGrid(replace(self, shrink_threshold=None), values)

    def class_priors(self, weight: Floats) -> tuple[Floats, tuple[Remark, ...]]:
        if isinstance(self.priors, str):
            return (weight / weight.sum() if self.priors == "empirical" else np.full(len(weight), 1 / len(weight))), ()
        if not np.any(self.priors):
            raise ParameterError(f"priors must be non-negative and finite, and not all zero; found {self.priors}.")
        priors, remarks = given_priors(self.priors, weight, strict=False)
        if not remarks:
            return priors, ()
        text = "The priors do not sum to 1. Normalizing such that it sums to one: their sum is"
        return priors, (Remark(f"{text} {np.sum(self.priors):g}.", PriorsWarning),)

    def estimate_from(self, statistic: Statistic, shape: Shape, passes: Passes | None, *, reread: bool) -> Solved:  # noqa: ARG002 - as of every recipe
        self.check(statistic)
        priors, remarks = self.class_priors(statistic.weight)
        centres = self._medians(statistic, passes) if self.metric == "manhattan" else None
        found = self.deviations(statistic, centres)
        if not found.spread.any() and not found.d.any():
            raise DataError("All features have zero variance. Division by zero. Leave constant columns out.")
        left = found.shrunken(float(self.shrink_threshold or 0.0))
        attributes = {
            "centroids_": left.centroids,
            "deviations_": left.d,
            "within_class_std_dev_": found.spread,
            "class_prior_": priors,
            "shrink_threshold_": float(self.shrink_threshold or 0.0),
            "support_": (left.d != 0).any(axis=0),
        }
        remarks += about_columns(shape, np.flatnonzero(found.spread == 0), CONSTANT)
        return Solved(self.rule_of(left, priors), statistic, attributes, remarks=remarks, details=left)

    def population(self, solved: Solved, shape: Shape) -> GaussianPopulation | None:  # noqa: ARG002 - the same for all
        left: Deviations = solved.details
        if self.metric == "manhattan":
            return None
        nothing = np.zeros((0, len(left.spread)))
        priors = np.where(left.weight > 0, solved.attributes["class_prior_"], 0.0)
        deviation = np.broadcast_to(self._scale(left), left.centroids.shape)
        return GaussianPopulation(priors, left.centroids, lambda _: nothing, deviation)

    def distances(self, solved: Solved, shape: Shape) -> DiagonalRule | None:  # noqa: ARG002 - the same for all
        left: Deviations = solved.details
        if self.metric == "manhattan":
            return None
        scale = self._scale(left)
        precision = 1.0 / np.square(np.where(scale > 0, scale, 1.0))
        return DiagonalRule(left.centroids, np.tile(precision, (len(left.weight), 1)), np.zeros(len(left.weight)))

    def _scale(self, left: Deviations) -> Floats:
        """The deviations within the classes: s_j, or s_j + s_0 as pamr has it."""
        return left.spread + left.typical if self.rule == "pamr" else left.spread

    def rule_size(self, solved: Solved) -> float:
        return float((len(solved.statistic.classes) - 1) * (int(solved.attributes["support_"].sum()) + 1))

    def regularised(self, solved: Solved) -> bool:
        return bool(solved.attributes["shrink_threshold_"] > 0)

    def rule_of(self, left: Deviations, priors: Floats) -> Rule:
        logs = possible_logs(priors, left.weight)
        posterior, nearest = self.linear_rules(left, priors, logs)
        if self.rule == "pamr":
            return posterior
        logs = 2.0 * logs
        if self.metric == "manhattan":
            return MedianRule(left.centroids, left.unit, logs, nearest=nearest is not None)
        precision = np.empty(left.d.shape)
        precision[:] = 2.0 / np.square(left.unit)
        return CentroidRule(DiagonalRule(left.centroids, precision, logs), posterior, nearest)

    def linear_rules(self, left: Deviations, priors: Floats, logs: Floats) -> tuple[LinearRule, LinearRule | None]:
        """Log posteriors up to a constant of the row; and what says which centroid is nearest, where that decides.

        Squares of distances have the same x'x for all classes. ``logs`` are those of the priors.
        """
        if self.rule == "pamr":
            scale = np.where(left.spread + left.typical > 0, left.spread + left.typical, 1.0)
            away = left.gap / scale
            return LinearRule(away / scale, logs - 0.5 * np.square(away).sum(axis=1), left.origin), None
        away = left.gap / left.unit
        coef, offset = np.divide(away, 0.5 * left.unit), 2.0 * logs - _squares(away)
        posterior = LinearRule(coef, offset, left.origin)
        known = priors[left.weight > 0].tolist()
        # As numpy.isclose has it.
        if max(known) - min(known) > 1e-8 + 1e-5 * known[0]:
            return posterior, None
        offset = np.where(left.weight > 0, -0.5 * _squares(left.gap), -np.inf)
        return posterior, LinearRule(left.gap, offset, left.origin)

    def deviations(self, statistic: Statistic, centres: Floats | None = None) -> Deviations:
        assert isinstance(statistic, ClassMoments)
        present = statistic.weight > 0
        # Weights that cannot be numbers of rows, such as shares, count as if they summed to that number.
        classes, weight, squares = int(np.count_nonzero(present)), statistic.weight, statistic.scatter.sum(axis=0)
        if statistic.total_weight <= classes:
            unit_weight = float(statistic.rows.sum()) / statistic.total_weight
            weight, squares = unit_weight * weight, unit_weight * squares
        origin, total = grand_mean(weight, statistic.mean), float(weight.sum())
        if centres is not None:
            # About the medians, as scikit-learn takes the spread then.
            squares = squares + weight @ np.square(statistic.mean - centres)
        centroids = np.where(present[:, None], statistic.mean if centres is None else centres, origin)
        # A training part may have one row a class: nothing follows from it, and NaN says so.
        free = total - classes
        spread = np.sqrt(squares / free) if free > 0 else np.full_like(squares, np.nan)
        m = np.sqrt(np.where(present, 1.0 / np.where(present, weight, 1.0) - 1.0 / total, 0.0))
        typical, gap = _median(spread), centroids - origin
        unit = np.multiply.outer(m, spread + typical)
        if unit.min() > 0:
            return Deviations(weight, origin, centroids, gap, spread, typical, m, np.divide(gap, unit, out=unit))
        without_unit = np.where(gap > 0, np.inf, np.where(gap < 0, -np.inf, 0.0))
        d = np.divide(gap, unit, out=without_unit, where=(unit > 0) | np.isnan(unit))
        return Deviations(weight, origin, centroids, gap, spread, typical, m, d)

    def check(self, statistic: Statistic) -> None:
        if self.metric == "manhattan" and self.rule == "pamr":
            raise ParameterError("rule='pamr' needs metric='euclidean': its posteriors are those of normal columns.")
        if len(statistic.classes) < 2:
            raise DataError("The number of classes has to be greater than one; got 1 class. Add rows of another class.")
        refuse_single_rows(statistic)

    def _medians(self, statistic: Statistic, passes: Passes | None) -> Floats:
        if passes is None:
            raise DataError("metric='manhattan' needs the rows themselves, for their medians: use fit.")
        block = passes.block()
        x, parts = block.dense(), [block.codes == k for k in range(len(statistic.classes))]
        if block.weight is None:
            return np.stack([np.median(x[part], axis=0) for part in parts]).astype(np.float64)
        return np.stack([_weighted_median(x[part], block.weight[part]) for part in parts])


@dataclass(frozen=True, eq=False)
class Deviations:
    """How far centroids are from the mean of all rows (``origin``), in units of m_k (s_j + s_0): ``d``, K x p.

    ``gap`` is the same in the columns' own units, ``spread`` are the s_j and ``typical`` is s_0.
    """

    weight: Floats
    origin: Floats
    centroids: Floats
    gap: Floats
    spread: Floats
    typical: float
    m: Floats
    d: Floats

    @cached_property
    def unit(self) -> Floats:
        """What distances are measured in: a column without spread counts as it is."""
        return np.where(self.spread == 0, 1.0, self.spread)

    @property
    def largest(self) -> float:
        """The threshold from which on no column is left."""
        finite = np.abs(self.d[np.isfinite(self.d)])
        return float(finite.max(initial=0.0))

    def shrunken(self, threshold: float) -> Deviations:
        """The same with every deviation drawn towards zero; a threshold of zero leaves the centroids as they are."""
        if not threshold:
            return self
        d = np.sign(self.d) * np.maximum(np.abs(self.d) - threshold, 0.0)
        unit = self.m[:, None] * (self.spread + self.typical)
        gap = np.multiply(unit, d, out=self.gap.copy(), where=~np.isinf(d))
        return replace(self, d=d, gap=gap, centroids=self.origin + gap)


@dataclass(frozen=True)
class CentroidRule(Rule):
    """score_k(x) = offset_k - |(x - centroid_k) / unit|^2, scikit-learn's scores, as ``distances`` has them.

    ``posterior`` has the same scores up to a constant of the row. With ``nearest`` the answer is the class of the
    nearest centroid in the columns' own units, as scikit-learn's is where all classes have the same prior; it need not
    be the class with the largest score.
    """

    kind = "centroid"
    stored: ClassVar[Fields] = {
        "distances": Of(DiagonalRule, SAME), "posterior": Of(LinearRule, SAME),
        "nearest": Optional(Of(LinearRule, SAME)),
    }  # fmt: skip

    distances: DiagonalRule
    posterior: LinearRule
    nearest: LinearRule | None

    @property
    def by_score(self) -> bool:  # type: ignore[override]
        return self.nearest is None

    @property
    def linear(self) -> LinearRule:
        return self.posterior if self.nearest is None else self.nearest

    @property
    def constant(self) -> Floats:
        return self.distances.offset

    def simplest(self, output: Output) -> Rule:
        """The one of these rules that gives this output with the least work."""
        if output is Output.SCORES:
            return self.distances
        return self.posterior if output is not Output.BEST or self.nearest is None else self.nearest

    def scores(self, x: NDArray[Any]) -> Floats:
        return self.distances.scores(x)

    def contributions(self, x: Any) -> Floats:
        return self.posterior.contributions(x)

    def fill(self, x: NDArray[Any], output: Output, out: NDArray[Any]) -> bool:
        return self.simplest(output).fill(x, output, out)


@dataclass(frozen=True)
class MedianRule(Rule):
    """score_k(x) = offset_k - (sum_j |x_j - centroid_kj| / unit_j)^2; ``nearest`` as for means."""

    kind = "median"
    stored: ClassVar[Fields] = {
        "centroids": COEF,
        "unit": Array("p", allowed=("inf",), low=5e-324),
        "offset": OFFSET,
        "nearest": Flag(),
    }
    bulky = True
    has_posterior = False

    centroids: Floats
    unit: Floats
    offset: Floats
    nearest: bool

    @property
    def by_score(self) -> bool:  # type: ignore[override]
        return not self.nearest

    @property
    def constant(self) -> Floats:
        return self.offset

    def scores(self, x: NDArray[Any]) -> Floats:
        return np.asarray(self.offset - np.square(self._distances(x, 1.0 / self.unit)))

    def fill(self, x: NDArray[Any], output: Output, out: NDArray[Any]) -> bool:
        if output is not Output.BEST or not self.nearest:
            return super().fill(x, output, out)
        distances = self._distances(x, None)
        out[:] = np.where(np.isneginf(self.offset), np.inf, distances).argmin(axis=1)
        return bool(np.isfinite(distances).all())

    def _distances(self, x: NDArray[Any], weight: Floats | None) -> Floats:
        """n x K."""
        # Read late: it takes a while, and few use medians.
        from scipy.spatial.distance import cdist

        return np.asarray(cdist(x, self.centroids, "cityblock", w=weight))


@dataclass(frozen=True, eq=False)
class CentroidGrid(Grid):
    """Thresholds, the largest first: the whole path from one statistic."""

    ties: ClassVar[Literal["log loss", "first"]] = "first"

    recipe: NearestCentroidRecipe
    values: Floats

    @property
    def settings(self) -> list[dict[str, Any]]:
        return [{"shrink_threshold": float(value)} for value in self.values]

    @property
    def reduction(self) -> Reduction[ClassMoments]:
        return MomentsOf(Depth.DIAGONAL)

    def impossible(self, shape: Shape) -> str:  # noqa: ARG002 - whatever the rows
        if self.recipe.metric == "manhattan":
            return "shrink_threshold='cv' needs metric='euclidean': medians cannot be merged. Give a number instead."
        return ""

    def losses(self, statistic: ClassMoments, shape: Shape, block: Block) -> Iterator[Losses]:  # noqa: ARG002 - as of every recipe
        recipe, every = self.recipe, slice(0, len(block))
        priors = recipe.class_priors(statistic.weight)[0]
        logs, whole = possible_logs(priors, statistic.weight), recipe.deviations(statistic)
        centred = block.dense() - whole.origin
        step = max(MOST_SCORES // (len(priors) * max(len(block), centred.shape[1])), 1)
        for start in range(0, len(self.values), step):
            values = self.values[start : start + step]
            posterior, nearest = zip(
                *(recipe.linear_rules(whole.shrunken(float(v)), priors, logs) for v in values), strict=True
            )
            wrong, loss = row_losses(_all_scores(posterior, centred), block.codes)
            if None not in nearest:
                best = _all_scores(nearest, centred).argmax(axis=1)
                wrong = (best != block.codes).astype(np.float64)
            yield slice(start, start + len(values)), every, wrong, loss

    def results(self, table: Any, best: int) -> dict[str, Any]:
        return {"thresholds": self.values, **table, **self.settings[best]}


def _all_scores(rules: Sequence[LinearRule], centred: Floats) -> Floats:
    """Scores (rules, K, n) of rows from which the origin that all rules have was subtracted."""
    coef, offset = np.stack([rule.coef for rule in rules]), np.stack([rule.offset for rule in rules])
    # At most thresholds most columns are left out.
    used = np.flatnonzero((coef != 0).any(axis=(0, 1)))
    coef = coef.reshape(-1, coef.shape[2])
    if 2 * len(used) < coef.shape[1]:
        coef, centred = coef[:, used], centred[:, used]
    return (coef @ centred.T).reshape(*offset.shape, -1) + offset[:, :, None]


def _squares(values: Floats) -> Floats:
    """The sum of the squares of each row."""
    return np.asarray(np.einsum("kj,kj->k", values, values))


def _median(values: Floats) -> float:
    """The median; NaN where any of the values is. For few values numpy's takes longer to begin than to end."""
    ordered, half = np.sort(values), len(values) // 2
    if np.isnan(ordered[-1]):
        return float(ordered[-1])
    return float(ordered[half]) if len(values) % 2 else float(0.5 * (ordered[half - 1] + ordered[half]))


def _weighted_median(x: NDArray[Any], weight: Floats) -> Floats:
    """The median of each column where a row counts as often as its weight says."""
    order = np.argsort(x, axis=0, kind="stable")
    ordered, sums = np.take_along_axis(x, order, axis=0), np.cumsum(weight[order], axis=0)
    half = 0.5 * sums[-1]
    lower, upper = (sums >= half).argmax(axis=0), (sums > half).argmax(axis=0)
    columns = np.arange(x.shape[1])
    return np.asarray(0.5 * (ordered[lower, columns].astype(np.float64) + ordered[upper, columns]))
