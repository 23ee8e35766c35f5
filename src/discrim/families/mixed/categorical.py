"""Naive Bayes of categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.block import Coded, Mixed
from discrim.errors import DataError, DiscrimWarning, ParameterError
from discrim.families.mixed.dirichlet import leave_one_out_alpha, log_probabilities, log_unseen
from discrim.families.mixed.recipe import AdditiveRecipe, Kinds, check_levels
from discrim.families.mixed.rule import AdditiveRule
from discrim.families.mixed.terms import LevelTerm
from discrim.families.recipe import Passes, Remark, Shape, Solved
from discrim.statistics import ClassCounts, LevelsOf
from discrim.typing import Floats

# With force_alpha=False a smaller alpha is raised to this one, as in scikit-learn.
LEAST_ALPHA = 1e-10
# Categories of a numbered column up to the largest number; a table of more is a mistake.
MOST_CATEGORIES = 1 << 24


@dataclass(frozen=True, eq=False)
class CategoricalRecipe(AdditiveRecipe[ClassCounts]):
    """p_kjl = (N_kjl + alpha_j) / (n_k + alpha_j L_j); the largest log pi_k + sum_j log p_kj(x_j)."""

    alpha: Any = 1.0
    force_alpha: bool = True
    min_categories: Any = None

    def levelled(self, columns: Kinds) -> Sequence[bool]:
        return [True] * len(columns.names)

    def checked(self, x: Mixed, columns: Kinds, like: ClassCounts | None) -> Mixed:
        names = columns.names
        check_levels(names, None if like is None else like.levels, x)
        for name, (levels, codes) in zip(names, x.levels, strict=True):
            if codes.size and codes.min() < 0:
                raise DataError(
                    f"Input X contains NaN: column '{name}' has missing values. Impute them, give them a category of "
                    "their own, or use MixedNB, which leaves them out."
                )
            if levels.dtype.kind != "U":
                _check_numbers(name, levels)
        return replace(x, levels=tuple(_whole(*coded) for coded in x.levels))

    def reduction(self, shape: Shape, like: ClassCounts | None = None) -> LevelsOf:  # noqa: ARG002 - there is one form
        return LevelsOf(shape.columns)

    def adopt(self, statistic: ClassCounts) -> ClassCounts:
        if statistic.levels is None:
            raise DataError("CategoricalNB needs counts of levels; these are counts of columns.")
        return statistic

    def estimate(self, statistic: ClassCounts, shape: Shape, passes: Passes | None) -> Solved:  # noqa: ARG002
        assert statistic.levels is not None
        least = self._least_categories(len(statistic.levels))
        tables = [_dense(statistic, j, least[j]) for j in range(len(least))]
        counts = [count for _, count in tables]
        alphas, raised = self._alphas(counts)
        logs = [log_probabilities(count, alpha) for count, alpha in zip(counts, alphas, strict=True)]
        log_prior, rescaled = self.log_priors(statistic.weight)
        attributes = {
            "alpha_": alphas,
            "categories_": [levels for levels, _ in tables],
            "category_count_": counts,
            "n_categories_": np.array([count.shape[1] for count in counts]),
            "feature_log_prob_": logs,
            "class_count_": statistic.weight,
            "class_log_prior_": log_prior,
        }
        terms = tuple(
            LevelTerm(levels, log_prob, log_unseen(count, alpha))
            for (levels, count), log_prob, alpha in zip(tables, logs, alphas, strict=True)
        )
        rule = AdditiveRule(log_prior, terms, (True,) * len(terms))
        return Solved(rule, statistic, attributes, remarks=(*raised, *rescaled))

    def rule_size(self, solved: Solved) -> float:
        levels = solved.attributes["n_categories_"]
        return float((len(solved.statistic.classes) - 1) * (1 + int(np.maximum(levels - 1, 0).sum())))

    def _least_categories(self, p: int) -> NDArray[np.int64]:
        if self.min_categories is None:
            return np.zeros(p, dtype=np.int64)
        least = np.asarray(self.min_categories)
        if least.dtype.kind not in "iu":
            raise ParameterError(f"'min_categories' should have integral type. Got {least.dtype} instead.")
        if least.ndim and least.shape != (p,):
            raise ParameterError(
                f"'min_categories' should have shape ({p},), one number a column; it has {least.shape}."
            )
        return np.broadcast_to(least, p).astype(np.int64)

    def _alphas(self, counts: Sequence[Floats]) -> tuple[Floats, tuple[Remark, ...]]:
        if isinstance(self.alpha, str):
            return np.array([leave_one_out_alpha(count) for count in counts]), ()
        alpha = np.asarray(self.alpha, dtype=np.float64)
        if alpha.ndim and alpha.shape != (len(counts),):
            raise ParameterError(
                f"When alpha is an array, it should contain `n_features` = {len(counts)} numbers; "
                f"its shape is {alpha.shape}."
            )
        if not (np.isfinite(alpha) & (alpha >= 0)).all():
            raise ParameterError("All values in alpha must be greater than 0, or 0, and finite.")
        remarks: tuple[Remark, ...] = ()
        if not self.force_alpha and (alpha < LEAST_ALPHA).any():
            text = (
                f"alpha too small will result in numeric errors, setting alpha = {LEAST_ALPHA:.1e}. "
                "Use `force_alpha=True` to keep alpha unchanged."
            )
            alpha, remarks = np.maximum(alpha, LEAST_ALPHA), (Remark(text, DiscrimWarning),)
        return np.array(np.broadcast_to(alpha, len(counts))), remarks


def _check_numbers(name: str, levels: Floats) -> None:
    if levels[0] <= -1:
        raise DataError(
            f"Negative values in data passed to CategoricalNB (input X): column '{name}' holds {levels[0]:g}. "
            "Categories are numbered 0, 1, 2, ..."
        )
    if levels[-1] >= MOST_CATEGORIES:
        raise DataError(f"Column '{name}' holds {levels[-1]:.10g}. Number its categories 0, 1, 2, ...")


def _whole(levels: NDArray[Any], codes: NDArray[np.int32]) -> Coded:
    """Numbers without their fractions, as scikit-learn reads them."""
    if levels.dtype.kind == "U" or np.array_equal(levels, np.trunc(levels)):
        return levels, codes
    whole, place = np.unique(np.trunc(levels) + 0.0, return_inverse=True)
    return whole, place.astype(np.int32)[codes]


def _dense(statistic: ClassCounts, j: int, least: int) -> tuple[NDArray[Any], Floats]:
    """Levels and counts of a column; numbered categories without a gap, up to ``least``."""
    assert statistic.levels is not None
    levels, count = statistic.levels[j], statistic.of_feature(j)
    if levels.dtype.kind != "U":
        size = max(int(levels[-1]) + 1 if len(levels) else 0, least)
        dense = np.zeros((len(count), size))
        dense[:, levels.astype(np.int64)] = count
        return np.arange(size, dtype=np.float64), dense
    # Categories that may come later have no name yet.
    return levels, np.pad(count, [(0, 0), (0, max(least - len(levels), 0))])
