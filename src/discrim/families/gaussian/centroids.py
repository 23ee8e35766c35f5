"""Nearest centroids, and nearest shrunken centroids: classes of one spread a column, some columns left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block
from discrim.errors import CollinearWarning, DataError, ParameterError, PriorsWarning, name_list
from discrim.families.gaussian.recipe import GaussianRecipe, Statistic
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
from discrim.families.rule import LinearRule, Output, Rule
from discrim.statistics import ClassMoments, Depth, MomentsOf
from discrim.statistics.means import grand_mean
from discrim.typing import Floats

# Thresholds on the path, evenly from 0 to where no column is left.
PATH = 30


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
        priors = np.asarray(self.priors, dtype=np.float64)
        if priors.shape != weight.shape:
            raise ParameterError.bad_value("priors", self.priors, f"{len(weight)} numbers, one for each class")
        if not (np.isfinite(priors) & (priors >= 0)).all() or not priors.any():
            raise ParameterError(f"priors must be non-negative and finite, and not all zero; found {self.priors}.")
        total = float(priors.sum())
        if np.isclose(total, 1.0):
            return priors, ()
        text = f"The priors do not sum to 1. Normalizing such that it sums to one: their sum is {total:g}."
        return priors / total, (Remark(text, PriorsWarning),)

    def estimate_from(self, statistic: Statistic, shape: Shape, passes: Passes | None, *, reread: bool) -> Solved:  # noqa: ARG002
        assert isinstance(statistic, ClassMoments)
        if len(statistic.classes) < 2:
            raise DataError("The number of classes has to be greater than one; got 1 class.")
        if statistic.total_weight <= (statistic.weight > 0).sum():
            raise DataError("The number of samples must be more than the number of classes.")
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
        remarks += _constant(found.spread, shape)
        return Solved(self.rule_of(left, priors), statistic, attributes, remarks=remarks, details=left)

    def rule_size(self, solved: Solved) -> float:
        return float((len(solved.statistic.classes) - 1) * (int(solved.attributes["support_"].sum()) + 1))

    def regularised(self, solved: Solved) -> bool:
        return bool(solved.attributes["shrink_threshold_"] > 0)

    def rule_of(self, left: Deviations, priors: Floats) -> Rule:
        with np.errstate(divide="ignore"):
            logs = np.where(left.weight > 0, np.log(priors), -np.inf)
        if self.rule == "pamr":
            scale = left.spread + left.typical
            away = left.m[:, None] * left.d
            coef = away / np.where(scale > 0, scale, 1.0)
            return LinearRule(coef, logs - 0.5 * np.square(away).sum(axis=1), left.origin)
        nearest = bool(np.isclose(priors, 1 / len(priors)).all())
        unit = np.where(left.spread > 0, left.spread, 1.0)
        return CentroidRule(left.centroids, unit, 2.0 * logs, left.origin, self.metric, nearest=nearest)

    def deviations(self, statistic: Statistic, centres: Floats | None = None) -> Deviations:
        assert isinstance(statistic, ClassMoments)
        weight, total = statistic.weight, statistic.total_weight
        origin, present = grand_mean(weight, statistic.mean), weight > 0
        squares = statistic.scatter.sum(axis=0)
        centroids = np.where(present[:, None], statistic.mean, origin)
        if centres is not None:
            # About the medians, as scikit-learn takes the spread then.
            squares = squares + weight @ np.square(statistic.mean - centres)
            centroids = centres
        spread = np.sqrt(squares / (total - present.sum()))
        m = np.sqrt(np.where(present, 1.0 / np.where(present, weight, 1.0) - 1.0 / total, 0.0))
        typical = float(np.median(spread))
        unit = m[:, None] * (spread + typical)
        gap = centroids - origin
        d = np.divide(gap, unit, out=np.where(gap != 0, np.sign(gap) * np.inf, 0.0), where=unit > 0)
        return Deviations(weight, origin, centroids, spread, typical, m, d)

    def _medians(self, statistic: Statistic, passes: Passes | None) -> Floats:
        if passes is None:
            raise DataError("metric='manhattan' needs the rows themselves, for their medians: use fit.")
        block = passes.block()
        return np.stack([np.median(block.dense()[block.codes == k], axis=0) for k in range(len(statistic.classes))])


@dataclass(frozen=True, eq=False)
class Deviations:
    """How far centroids are from the mean of all rows (``origin``), in units of m_k (s_j + s_0): ``d``, K x p.

    ``spread`` are the s_j and ``typical`` is s_0.
    """

    weight: Floats
    origin: Floats
    centroids: Floats
    spread: Floats
    typical: float
    m: Floats
    d: Floats

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
        away = np.multiply(unit, d, out=self.centroids - self.origin, where=np.isfinite(d))
        return replace(self, d=d, centroids=self.origin + away)


@dataclass(frozen=True)
class CentroidRule(Rule):
    """score_k(x) = offset_k - |(x - centroid_k) / unit|^2, or by absolute differences: scikit-learn's scores.

    With ``nearest`` the answer is the class of the nearest centroid in the columns' own units, as scikit-learn's is
    where all classes have the same prior; it need not be the class with the largest score.
    """

    kind = "centroid"
    bulky = True

    centroids: Floats
    unit: Floats
    offset: Floats
    origin: Floats
    metric: str
    nearest: bool

    @property
    def by_score(self) -> bool:  # type: ignore[override]
        return not self.nearest

    @property
    def constant(self) -> Floats:
        return self.offset

    def scores(self, x: NDArray[Any]) -> Floats:
        return np.asarray(self.offset - np.square(self._distances(x, self.unit)))

    def fill(self, x: NDArray[Any], output: Output, out: NDArray[Any]) -> bool:
        if output is not Output.BEST or not self.nearest:
            return super().fill(x, output, out)
        if self.metric == "euclidean":
            centred = self.centroids - self.origin
            linear = LinearRule(centred, -0.5 * np.square(centred).sum(axis=1), self.origin)
            return linear.fill(x, output, out)
        distances = self._distances(x, np.ones_like(self.unit))
        out[:] = distances.argmin(axis=1)
        return bool(np.isfinite(distances).all())

    def _distances(self, x: NDArray[Any], unit: Floats) -> Floats:
        """n x K."""
        found = np.empty((len(x), len(self.centroids)))
        for k, centroid in enumerate(self.centroids):
            z = (x - centroid) / unit
            found[:, k] = np.abs(z).sum(axis=1) if self.metric == "manhattan" else np.sqrt(np.einsum("ij,ij->i", z, z))
        return found


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

    def losses(self, statistic: ClassMoments, shape: Shape, block: Block) -> Iterator[Losses]:  # noqa: ARG002
        x, recipe = block.dense(), self.recipe
        priors = recipe.class_priors(statistic.weight)[0]
        deviations, every = recipe.deviations(statistic), slice(0, len(x))
        for i, value in enumerate(self.values):
            rule = recipe.rule_of(deviations.shrunken(float(value)), priors)
            scores = rule.scores(x)
            wrong, loss = row_losses(scores.T[None], block.codes)
            if not rule.by_score:
                best = np.empty(len(x), dtype=np.int64)
                rule.fill(x, Output.BEST, best)
                wrong = (best != block.codes).astype(np.float64)[None]
            yield slice(i, i + 1), every, wrong, loss

    def results(self, table: Any, best: int) -> dict[str, Any]:
        return {"thresholds": self.values, **table, **self.settings[best]}


def _constant(spread: Floats, shape: Shape) -> tuple[Remark, ...]:
    constant = np.flatnonzero(spread == 0)
    if not len(constant):
        return ()
    names = shape.columns.names_out
    text = (
        f"Columns {name_list(names[j] for j in constant)} have zero standard deviation within the classes, so that "
        "their distances count in the columns' own units."
    )
    return (Remark(text, CollinearWarning),)
