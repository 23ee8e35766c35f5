"""What naive Bayes of counts shares: one statistic, smoothing, class probabilities."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block, Reads
from discrim.errors import DataError, ParameterError
from discrim.families.counts.distributions import Distribution, Solution
from discrim.families.counts.rule import LimitRule
from discrim.families.recipe import Chosen, LeftOut, Passes, Recipe, Remark, Search, Shape, Solved
from discrim.families.rule import LinearRule
from discrim.statistics import ClassCounts, CountsOf
from discrim.typing import Floats, Index

LEAST_ALPHA = 1e-10


@dataclass(frozen=True, eq=False)
class CountsRecipe(Recipe[ClassCounts]):
    """The sums of the columns in each class, smoothed; a subclass says how they become probabilities.

    With alpha = 0 a row may be impossible in every class; it gets the answer that small alpha tend to.
    """

    reads: ClassVar[Reads] = "sparse"
    held_out_weighted: ClassVar[bool] = True
    # May it read entries below zero?
    signed: ClassVar[bool] = False

    alpha: Any = 1.0
    force_alpha: bool = True
    fit_prior: bool = True
    class_prior: Any = None
    class_alpha: Any = 0.0
    alphas: Any = None
    cv: Any = 10
    model: str = "This model"

    @property
    @abstractmethod
    def distribution(self) -> Distribution:
        """How counts become probabilities."""

    def reduction(self, shape: Shape, like: ClassCounts | None = None) -> CountsOf:  # noqa: ARG002 - there is one form
        return CountsOf(self.distribution.threshold, self.signed, self.model, shape.columns)

    def adopt(self, statistic: ClassCounts) -> ClassCounts:
        if statistic.levels is not None:
            raise DataError(f"{self.model} needs counts of columns; this statistic has counts of levels.")
        return statistic

    def solve(
        self, statistic: ClassCounts, shape: Shape, passes: Passes | None = None, before: Chosen | None = None
    ) -> Solved:
        """The same with alpha chosen first where it is to be, by the log loss of rows that are held out."""
        if not isinstance(self.alpha, str):
            return self.estimate(statistic, shape, passes)
        self.refuse(statistic, shape)
        chosen = before
        if passes is not None:
            from discrim.families.counts.smoothing import choose_alpha

            chosen = choose_alpha(self, statistic, passes)
        if chosen is None:
            raise self.needs_rows_error()
        solved = self.with_settings(chosen.settings).estimate(statistic, shape, passes)
        return replace(solved, chosen=chosen, attributes={**solved.attributes, **chosen.results})

    def estimate(self, statistic: ClassCounts, shape: Shape, passes: Passes | None) -> Solved:  # noqa: ARG002
        self.refuse(statistic, shape)
        log_prior = self.log_prior(statistic.weight)
        alpha, remarks = self.checked_alpha(statistic.n_features)
        solution = self.distribution.solve(statistic, alpha)
        attributes = {
            "class_count_": statistic.weight,
            "feature_count_": statistic.count,
            "class_log_prior_": log_prior,
            "alpha_": alpha,
            "feature_log_prob_": solution.log_prob,
        }
        offset = solution.constant + self.score_prior(log_prior)
        return Solved(self._rule(solution, offset), statistic, attributes, remarks=remarks, details=solution)

    def refuse(self, statistic: ClassCounts, shape: Shape) -> None:  # noqa: ARG002 - a subclass may have more to refuse
        """Raise what ``estimate`` would raise whatever alpha is."""
        self.log_prior(statistic.weight)

    def search(self) -> Search | None:
        return Search(self.alpha, self.cv) if isinstance(self.alpha, str) else None

    def held_out(self, solved: Solved, shape: Shape) -> LeftOut | None:  # noqa: ARG002 - the statistic says all
        if not all((np.asarray(part) > 0).all() for part in self.added(solved.attributes["alpha_"])):
            return None
        from discrim.families.counts.leave_one_out import leave_one_out_scores

        def scores(block: Block) -> Floats:
            return leave_one_out_scores(self, block, solved.statistic, solved.attributes["alpha_"], solved.details)

        return scores

    def among(self, known: Index, size: int) -> Self:
        """Of a class that does not occur nothing is known; the others share its prior."""
        given = {name: getattr(self, name) for name in ("class_prior", "class_alpha")}
        left: dict[str, Any] = {
            name: np.asarray(values, dtype=np.float64)[known]
            for name, values in given.items()
            if np.ndim(values) == 1 and len(known) < size == len(values)
        }
        return replace(self, **left) if left else self

    def rule_size(self, solved: Solved) -> float:
        size, columns = solved.statistic.count.shape
        return float((size - 1) * (columns + 1))

    def added(self, alpha: Any) -> tuple[Any, ...]:
        """What is added to the counts."""
        return (alpha,)

    def checked_alpha(self, columns: int) -> tuple[Any, tuple[Remark, ...]]:
        """What is added to the counts of so many columns, raised where it may not be too small."""
        alpha: Any = float(self.alpha) if isinstance(self.alpha, Real) else np.asarray(self.alpha, dtype=np.float64)
        if isinstance(alpha, np.ndarray):
            if alpha.shape != (columns,):
                raise ParameterError(
                    "When alpha is an array, it should contains `n_features`. "
                    f"Got {_described_shape(alpha)} instead of {columns}."
                )
            bad = alpha[~(np.isfinite(alpha) & (alpha >= 0))]
            if len(bad):
                raise ParameterError(f"All values in alpha must be greater than 0, and finite. One is {bad[0]:g}.")
        if np.min(alpha, initial=np.inf) >= LEAST_ALPHA or self.force_alpha:
            return alpha, ()
        raised = (
            f"alpha too small will result in numeric errors, setting alpha = {LEAST_ALPHA:.1e}. Use "
            "`force_alpha=True` to keep alpha unchanged."
        )
        return np.maximum(alpha, LEAST_ALPHA), (Remark(raised, UserWarning),)

    def score_prior(self, log_prior: Floats) -> Floats:
        """What the classes' probabilities add to the scores."""
        return log_prior

    def log_prior(self, weight: Floats) -> Floats:
        """The logarithms of the classes' probabilities."""
        size = len(weight)
        with np.errstate(divide="ignore"):
            if self.class_prior is not None:
                given = np.asarray(self.class_prior, dtype=np.float64)
                if given.shape != (size,):
                    raise ParameterError(
                        f"Number of priors must match number of classes. There are {given.size} for {size} classes."
                    )
                if not (np.isfinite(given) & (given >= 0)).all():
                    raise ParameterError("The priors in 'class_prior' must be finite and not negative.")
                return np.asarray(np.log(given))
            if not self.fit_prior:
                return np.full(size, -np.log(size))
            added = np.asarray(self.class_alpha, dtype=np.float64)
            if added.ndim and added.shape != (size,):
                raise ParameterError(f"'class_alpha' has {added.size} numbers for {size} classes.")
            counted = weight + added
            return np.asarray(np.log(counted) - np.log(counted.sum()))

    def needs_rows_error(self) -> ParameterError:
        return ParameterError(
            f"alpha='{self.alpha}' needs the rows themselves to leave some out: use fit on all rows, or give a number."
        )

    def _rule(self, solution: Solution, offset: Floats) -> LinearRule | LimitRule:
        threshold = self.distribution.threshold
        if solution.never is not None:
            return LimitRule(solution.coef, offset, *solution.never, threshold)
        return LinearRule(solution.coef, offset, np.zeros(solution.coef.shape[1]), threshold)


def _described_shape(values: NDArray[Any]) -> str:
    return f"{values.size} elements" if values.ndim == 1 else f"an array of the shape {values.shape}"
