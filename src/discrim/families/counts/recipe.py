"""The recipes of counts: how often each word, whether at all, and how little like the other classes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from discrim.block import Block, Reads
from discrim.errors import DataError, DiscrimWarning, ParameterError
from discrim.families.counts.held_out import choose_alpha, leave_one_out_scores
from discrim.families.counts.rule import Bernoulli, Complement, Distribution, LimitRule, Multinomial
from discrim.families.population import BernoulliPopulation, MultinomialPopulation
from discrim.families.priors import checked_priors, log_priors
from discrim.families.recipe import Chosen, LeftOut, Passes, Recipe, Remark, Search, Shape, Solved, Sum
from discrim.families.rule import LinearRule, Output, Rule, float_type
from discrim.statistics import ClassCounts, CountsOf
from discrim.typing import Floats, Index

LEAST_ALPHA = 1e-10

# Margins of rows, whether they are of the second class, and their weights.
Margins = tuple[Floats, NDArray[np.bool_], Floats]


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
            chosen = choose_alpha(self, statistic, passes)
        if chosen is None:
            raise self.needs_rows_error()
        solved = self.with_settings(chosen.settings).estimate(statistic, shape, passes)
        return replace(solved, chosen=chosen, attributes={**solved.attributes, **chosen.results})

    def estimate(self, statistic: ClassCounts, shape: Shape, passes: Passes | None) -> Solved:  # noqa: ARG002 - as of every recipe
        log_prior = self.refuse(statistic, shape)
        alpha, remarks = checked_alpha(self.alpha, self.force_alpha, statistic.n_features)
        distribution = self.distribution
        solution = distribution.solve(statistic, alpha)
        attributes = {
            "class_count_": statistic.weight,
            "feature_count_": statistic.count,
            "class_log_prior_": log_prior,
            "alpha_": alpha,
            "feature_log_prob_": solution.log_prob,
        }
        coef, offset = solution.coef, solution.constant + self.score_prior(log_prior)
        rule: Rule = LinearRule(coef, offset, np.zeros(coef.shape[1]), distribution.threshold)
        if solution.never is not None:
            rule = LimitRule(coef, offset, *solution.never, distribution.threshold)
        return Solved(rule, statistic, attributes, remarks=remarks, details=solution)

    def refuse(self, statistic: ClassCounts, shape: Shape) -> Floats:  # noqa: ARG002 - a subclass may have more to refuse
        """Raise what ``estimate`` would raise whatever alpha is; else the logarithms of the classes' probabilities."""
        return self.log_prior(statistic.weight)

    def search(self) -> Search | None:
        return Search(self.alpha, self.cv) if isinstance(self.alpha, str) else None

    def held_out(self, solved: Solved, shape: Shape) -> LeftOut | None:  # noqa: ARG002 - the statistic says all
        alpha = solved.attributes["alpha_"]
        if not all((np.asarray(part) > 0).all() for part in self.added(alpha)):
            return None
        return lambda block: leave_one_out_scores(self, block, solved.statistic, alpha, solved.details)

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

    def score_prior(self, log_prior: Floats) -> Floats:
        """What the classes' probabilities add to the scores."""
        return log_prior

    def log_prior(self, weight: Floats) -> Floats:
        """The logarithms of the classes' probabilities."""
        size = len(weight)
        if self.class_prior is not None:
            return log_priors(checked_priors(self.class_prior, weight))
        if not self.fit_prior:
            return np.full(size, -np.log(size))
        added = np.asarray(self.class_alpha, dtype=np.float64)
        if added.ndim and added.shape != (size,):
            raise ParameterError(f"'class_alpha' has {added.size} numbers for {size} classes.")
        counted = weight + added
        return np.asarray(log_priors(counted) - log_priors(counted.sum()))

    def needs_rows_error(self) -> ParameterError:
        return ParameterError(
            f"alpha='{self.alpha}' needs the rows themselves to leave some out: use fit on all rows, or give a number."
        )


def checked_alpha(alpha: Any, force_alpha: bool, columns: int) -> tuple[Any, tuple[Remark, ...]]:
    """What is added to the counts of so many columns: one number or one a column, raised where it may not be tiny."""
    alpha = float(alpha) if isinstance(alpha, Real) else np.asarray(alpha, dtype=np.float64)
    if isinstance(alpha, np.ndarray):
        if alpha.shape != (columns,):
            found = f"{alpha.size} elements" if alpha.ndim == 1 else f"an array of the shape {alpha.shape}"
            raise ParameterError(
                f"When alpha is an array, it should contains `n_features`. Got {found} instead of {columns}."
            )
        bad = alpha[~(np.isfinite(alpha) & (alpha >= 0))]
        if len(bad):
            raise ParameterError(f"All values in alpha must be greater than 0, and finite. One is {bad[0]:g}.")
    if force_alpha or np.min(alpha, initial=np.inf) >= LEAST_ALPHA:
        return alpha, ()
    raised = (
        f"alpha too small will result in numeric errors, setting alpha = {LEAST_ALPHA:.1e}. Use "
        "`force_alpha=True` to keep alpha unchanged."
    )
    return np.maximum(alpha, LEAST_ALPHA), (Remark(raised, DiscrimWarning),)


@dataclass(frozen=True, eq=False)
class MultinomialRecipe(CountsRecipe):
    """theta_kj = (N_kj + alpha_j) / sum_j (N_kj + alpha_j); the largest log pi_k + sum_j x_j log theta_kj."""

    @property
    def distribution(self) -> Multinomial:
        return Multinomial()

    def population(self, solved: Solved, shape: Shape) -> MultinomialPopulation:  # noqa: ARG002 - the same for all
        statistic = solved.statistic
        drawn = statistic.count.sum(axis=1) / np.where(statistic.weight > 0, statistic.weight, 1.0)
        theta = np.exp(solved.attributes["feature_log_prob_"])
        return MultinomialPopulation(_priors(solved), theta, np.rint(drawn).astype(np.int64))


@dataclass(frozen=True, eq=False)
class ComplementRecipe(CountsRecipe):
    """q_kj the multinomial estimate from all other classes; the largest -sum_j x_j log q_kj."""

    norm: bool = False

    @property
    def distribution(self) -> Complement:
        return Complement(self.norm)

    def estimate(self, statistic: ClassCounts, shape: Shape, passes: Passes | None) -> Solved:
        solved = super().estimate(statistic, shape, passes)
        return replace(solved, attributes={"feature_all_": statistic.count.sum(axis=0), **solved.attributes})

    def score_prior(self, log_prior: Floats) -> Floats:
        """Classes have no prior, unless there is only one."""
        return log_prior if log_prior.shape[-1] == 1 else np.zeros_like(log_prior)


@dataclass(frozen=True, eq=False)
class BernoulliRecipe(CountsRecipe):
    """phi_kj = (N_kj + a) / (n_k + a + b); the largest log pi_k + sum_j log(1 - phi_kj) + sum_j x_j logit(phi_kj)."""

    signed: ClassVar[bool] = True

    binarize: float | None = 0.0
    beta: Any = None
    tune_intercept: bool = False

    @property
    def distribution(self) -> Bernoulli:
        threshold = None if self.binarize is None else float(self.binarize)
        return Bernoulli(threshold, None if self.beta is None else _beta_pair(self.beta))

    @property
    def needs_rows(self) -> bool:
        return self.tune_intercept or super().needs_rows

    def added(self, alpha: Any) -> tuple[Any, ...]:
        return self.distribution.pair(alpha)

    def without(self, statistic: ClassCounts, gone: ClassCounts) -> ClassCounts:
        left = statistic.subtract(gone)
        statistic.check_indicators(left)
        return left

    def estimate(self, statistic: ClassCounts, shape: Shape, passes: Passes | None) -> Solved:
        solved = super().estimate(statistic, shape, passes)
        return self._tuned(solved, passes) if self.tune_intercept else solved

    def refuse(self, statistic: ClassCounts, shape: Shape) -> Floats:
        if self.binarize is None:
            _check_binary(statistic, shape)
        p = statistic.n_features
        if any(np.ndim(part) and len(part) != p for part in self.distribution.beta or ()):
            raise ParameterError.bad_value("beta", self.beta, f"a pair (a, b) of numbers or arrays of {p} numbers")
        if isinstance(self.alpha, str) and self.beta is not None:
            raise ParameterError(f"alpha='{self.alpha}' chooses a and b of the Beta prior: leave 'beta' out.")
        return super().refuse(statistic, shape)

    def population(self, solved: Solved, shape: Shape) -> BernoulliPopulation:  # noqa: ARG002 - the same for all
        return BernoulliPopulation(_priors(solved), np.exp(solved.attributes["feature_log_prob_"]))

    def _tuned(self, solved: Solved, passes: Passes | None) -> Solved:
        """The rule with the constant of fewest training errors."""
        if passes is None:
            raise ParameterError("tune_intercept=True needs the rows themselves: use fit on all rows.")
        rule, classes = solved.rule, solved.statistic.classes
        if len(classes) != 2 or not isinstance(rule, LinearRule):
            raise DataError(
                f"tune_intercept=True needs two classes and alpha above zero; found {len(classes)} classes."
            )
        shift = _best_shift(*passes.reduce(Sum(partial(_margins, rule, classes[1]), _joined)))
        return replace(solved, rule=replace(rule, offset=rule.offset + np.array([0.0, shift])))


def _priors(solved: Solved) -> Floats:
    return np.where(solved.statistic.weight > 0, np.exp(solved.attributes["class_log_prior_"]), 0.0)


def _check_binary(s: ClassCounts, shape: Shape) -> None:
    slack = 1e-9 * s.weight[:, None]
    wrong = (s.count < -slack) | (s.count > s.weight[:, None] + slack)
    if wrong.any():
        name = shape.columns.names_out[int(np.argmax(wrong.any(axis=0)))]
        raise DataError(
            f"With binarize=None every entry of X must be 0 or 1; column '{name}' has other values. "
            "Set binarize to the number above which an entry counts as 1."
        )


def _beta_pair(given: Any) -> tuple[Any, Any]:
    """a and b as floats or arrays; else the error that says what they must be."""
    wanted = "a pair (a, b) of numbers or arrays, none below 0"
    try:
        a, b = (np.asarray(part, dtype=np.float64) for part in given)
    except (TypeError, ValueError):
        raise ParameterError.bad_value("beta", given, wanted) from None
    if not all(part.ndim <= 1 and np.isfinite(part).all() and (part >= 0).all() for part in (a, b)):
        raise ParameterError.bad_value("beta", given, wanted)
    return tuple(part if part.ndim else float(part) for part in (a, b))  # type: ignore[return-value]


def _margins(rule: LinearRule, second: Any, block: Block) -> Margins:
    """Of the rows of a block; ``second`` is the label of the second class."""
    scores = np.empty((len(block), 2))
    x: Any = block.x if rule.keeps_sparse else block.dense()
    rule.fill(x, Output.SCORES, scores)
    margin = (scores[:, 1] - scores[:, 0]).astype(float_type(x)).astype(np.float64)
    weight = np.ones(len(block)) if block.weight is None else block.weight
    return margin, np.asarray(block.classes[block.codes] == second), weight


def _joined(parts: Sequence[Margins]) -> Margins:
    margin, second, weight = (np.concatenate(each) for each in zip(*parts, strict=True))
    return margin, second, weight


def _best_shift(margin: Floats, second: NDArray[np.bool_], weight: Floats) -> float:
    """What to add to the margins so that their signs err least; of several the one nearest to zero.

    All cuts between neighbouring margins are tried: rows above a cut are called second. Cost: n log n.
    """
    order = np.argsort(margin, kind="stable")
    m, gain = margin[order], np.where(second, weight, -weight)[order]
    # errors(cut before position i) = second rows below the cut + first rows above it
    lost = np.concatenate([[0.0], np.cumsum(gain)])
    # Margins that differ by rounding cannot be cut apart.
    apart = m[1:] - m[:-1] > 1e-11 * np.maximum(np.abs(m[1:]), 1.0)
    cuts = np.concatenate([[True], apart, [True]])
    # Sums of equal errors differ by rounding.
    best = np.flatnonzero(cuts & (lost <= lost[cuts].min() + 1e-12 * weight.sum()))
    edges = np.concatenate([[-np.inf], m, [np.inf]])
    lower, upper = edges[best], edges[best + 1]
    if ((lower <= 0) & (upper > 0)).any():
        return 0.0
    finite = np.where(np.isinf(lower), upper - 1.0, np.where(np.isinf(upper), lower + 1.0, 0.5 * (lower + upper)))
    return -float(finite[np.argmin(np.abs(finite))])
