"""Naive Bayes of categories, and of columns of different kinds."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any, ClassVar, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from discrim.block import Coded, Mixed, Numbered, Reads
from discrim.errors import DataError, ParameterError, name_list
from discrim.families.counts.recipe import checked_alpha
from discrim.families.gaussian.recipe import rounded_deviations
from discrim.families.mixed.estimates import leave_one_out_alpha, log_probabilities, mixed_terms
from discrim.families.mixed.rule import AdditiveRule, LevelTerm
from discrim.families.population import IndependentPopulation
from discrim.families.priors import given_priors, log_priors
from discrim.families.recipe import Columns, Passes, Recipe, Remark, Shape, Solved
from discrim.statistics import ClassCounts, LevelsOf, MixedOf, MixedStatistic
from discrim.typing import Floats, Index

LIKELIHOODS = ("gaussian", "student-t", "kernel", "poisson", "gamma-poisson", "bernoulli", "categorical")
DEFAULTS = {"number": "gaussian", "boolean": "bernoulli", "text": "categorical"}
COUNTS = ("poisson", "gamma-poisson")
MEASUREMENTS = ("gaussian", "student-t", "kernel")
# Categories of a numbered column up to the largest number; a table of more is a mistake.
MOST_CATEGORIES = 1 << 24

S = TypeVar("S")
# The levels of every column that is read as such.
Known = Sequence[NDArray[Any]]


class Kinds(Columns, Protocol):
    """What is known of columns of different kinds: 'number', 'boolean' or 'text', and which are read as levels."""

    @property
    def names_in(self) -> list[str]: ...
    @property
    def kinds(self) -> tuple[str, ...]: ...
    @property
    def categorical(self) -> list[str]: ...


@dataclass(frozen=True, eq=False)
class AdditiveRecipe(Recipe[S]):
    """A score that is a sum over the columns, some of which are read as levels."""

    reads: ClassVar[Reads] = "mixed"

    fit_prior: bool = True
    class_prior: Any = None

    @abstractmethod
    def levelled(self, columns: Kinds) -> Sequence[bool]:
        """Which columns are read as levels."""

    @abstractmethod
    def checked(self, x: Mixed, columns: Kinds, like: Seen | None) -> Mixed:
        """Columns as the model takes them, or an error that names the column of a value that it cannot take.

        ``like`` says what the rows were that the model knows already.
        """

    def among(self, known: Index, size: int) -> Self:
        """Of a class that does not occur nothing is known; the others share its prior."""
        if self.class_prior is None or len(known) == size or len(self.class_prior) != size:
            return self
        left = np.asarray(self.class_prior, dtype=np.float64)[known]
        return replace(self, class_prior=left / left.sum() if left.sum() > 0 else left)

    def population(self, solved: Solved, shape: Shape) -> IndependentPopulation:  # noqa: ARG002 - the same for all
        priors = np.where(solved.statistic.weight > 0, np.exp(solved.attributes["class_log_prior_"]), 0.0)
        rule = solved.rule
        assert isinstance(rule, AdditiveRule)
        return IndependentPopulation(priors, rule.terms)

    def log_priors(self, weight: Floats) -> tuple[Floats, tuple[Remark, ...]]:
        """The logarithms of ``class_prior``, of the shares of the classes, or of equal priors."""
        if self.class_prior is not None:
            priors, remarks = given_priors(self.class_prior, weight, strict=False)
            return log_priors(priors), remarks
        total = weight.sum()
        if not self.fit_prior or not total > 0:
            return np.full(len(weight), -np.log(len(weight))), ()
        return log_priors(weight / total), ()


class Seen(NamedTuple):
    """What is known of columns: how each is modelled, and the levels of those that have some, for their type."""

    likelihoods: tuple[str, ...]
    levels: Known

    @classmethod
    def of_rule(cls, rule: AdditiveRule) -> Seen:
        """As a rule shows it."""
        levels = tuple(term.levels for term in rule.terms if isinstance(term, LevelTerm))
        return cls(tuple(term.kind for term in rule.terms), levels)

    @classmethod
    def of_statistic(cls, statistic: ClassCounts | MixedStatistic) -> Seen:
        """As the rows show it, where there is no rule yet."""
        if isinstance(statistic, ClassCounts):
            return cls((), statistic.levels or ())
        return cls(statistic.likelihoods, statistic.counts.levels or ())


@dataclass(frozen=True, eq=False)
class CategoricalRecipe(AdditiveRecipe[ClassCounts]):
    """p_kjl = (N_kjl + alpha_j) / (n_k + alpha_j L_j); the largest log pi_k + sum_j log p_kj(x_j)."""

    alpha: Any = 1.0
    force_alpha: bool = True
    min_categories: Any = None

    def levelled(self, columns: Kinds) -> Sequence[bool]:
        return [True] * len(columns.names_in)

    def checked(self, x: Mixed, columns: Kinds, like: Seen | None) -> Mixed:
        if isinstance(x.levels, Numbered) and x.levels.codes.min(initial=0) >= 0 and "text" not in columns.kinds:
            return x
        names = columns.names_in
        _check_levels(names, None if like is None else like.levels, x)
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

    def estimate(self, statistic: ClassCounts, shape: Shape, passes: Passes | None) -> Solved:  # noqa: ARG002 - as of every recipe
        assert statistic.levels is not None
        categories, bounds, count = _dense(statistic, self._least_categories(len(statistic.levels)))
        counts = [count[:, a:b] for a, b in pairwise(bounds)]
        sizes = [b - a for a, b in pairwise(bounds)]
        raised: tuple[Remark, ...] = ()
        if isinstance(self.alpha, str):
            alphas = np.array([leave_one_out_alpha(count) for count in counts])
        else:
            alpha, raised = checked_alpha(self.alpha, self.force_alpha, len(counts))
            alphas = np.array(np.broadcast_to(alpha, len(counts)))
        log_prob, unseen = log_probabilities(count, sizes, alphas)
        logs = [log_prob[:, a:b] for a, b in pairwise(bounds)]
        log_prior, rescaled = self.log_priors(statistic.weight)
        attributes = {
            "alpha_": alphas,
            "categories_": categories,
            "category_count_": counts,
            "n_categories_": np.array(sizes),
            "feature_log_prob_": logs,
            "class_count_": statistic.weight,
            "class_log_prior_": log_prior,
        }
        terms = tuple(map(LevelTerm, categories, logs, unseen.T))
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


@dataclass(frozen=True, eq=False)
class MixedRecipe(AdditiveRecipe[MixedStatistic]):
    """The columns are independent within class k, x_j ~ f_kj; the largest log pi_k + sum_j log f_kj(x_j)."""

    likelihoods: Mapping[Any, str] | None = None
    alpha: float = 1.0
    var_smoothing: float = 1e-9

    def levelled(self, columns: Kinds) -> Sequence[bool]:
        return [likelihood == "categorical" for likelihood in self.by_column(columns)]

    def by_column(self, columns: Kinds) -> tuple[str, ...]:
        """The likelihood of each column: what was asked for, or what its kind suggests."""
        chosen = {name: DEFAULTS[kind] for name, kind in zip(columns.names_in, columns.kinds, strict=True)}
        kinds = dict(zip(columns.names_in, columns.kinds, strict=True))
        for key, likelihood in (self.likelihoods or {}).items():
            name = _column(key, columns.names_in)
            if likelihood not in LIKELIHOODS:
                expected = f"one of {', '.join(map(repr, LIKELIHOODS))}"
                raise ParameterError(f"The likelihood of column '{name}' is {likelihood!r}; it must be {expected}.")
            if kinds[name] == "text" and likelihood != "categorical":
                raise ParameterError(
                    f"Column '{name}' holds text: its likelihood is 'categorical', not '{likelihood}'."
                )
            chosen[name] = likelihood
        return tuple(chosen.values())

    def checked(self, x: Mixed, columns: Kinds, like: Seen | None) -> Mixed:
        likelihoods = self.by_column(columns) if like is None else like.likelihoods
        numeric = [item for item in zip(columns.names_in, likelihoods, strict=True) if item[1] != "categorical"]
        for (name, likelihood), values in zip(numeric, x.numbers.T, strict=True):
            if likelihood == "bernoulli":
                bad, wanted = (values != 0) & (values != 1), "only 0 and 1"
            elif likelihood in COUNTS:
                bad, wanted = (values < 0) | (values != np.floor(values)), "counts 0, 1, 2 and so on"
            else:
                continue
            bad &= np.isfinite(values)
            if bad.any():
                raise DataError(
                    f"Column '{name}' holds {values[bad][0]:g}, but the likelihood '{likelihood}' needs {wanted}. "
                    f"Choose another: likelihoods={{'{name}': 'gaussian'}}."
                )
        _check_levels(columns.categorical, None if like is None else like.levels, x)
        return x

    def reduction(self, shape: Shape, like: MixedStatistic | None = None) -> MixedOf:
        if like is not None:
            return MixedOf(like.names, like.likelihoods)
        columns: Any = shape.columns
        return MixedOf(tuple(columns.names_in), self.by_column(columns))

    def adopt(self, statistic: MixedStatistic) -> MixedStatistic:
        made = dict(zip(statistic.names, statistic.likelihoods, strict=True))
        for key, likelihood in (self.likelihoods or {}).items():
            name = _column(key, statistic.names)
            if made[name] != likelihood:
                raise ParameterError(f"The statistic has column '{name}' as '{made[name]}', not as '{likelihood}'.")
        return statistic

    def without(self, statistic: MixedStatistic, gone: MixedStatistic) -> MixedStatistic:
        left = statistic.subtract(gone)
        statistic.check_means(left)
        return left

    def estimate(self, statistic: MixedStatistic, shape: Shape, passes: Passes | None) -> Solved:  # noqa: ARG002 - as of every recipe
        terms = mixed_terms(statistic, float(self.alpha), float(self.var_smoothing))
        log_prior, remarks = self.log_priors(statistic.weight)
        likelihoods = dict(zip(statistic.names, statistic.likelihoods, strict=True))
        cells, numeric = statistic.cells, [name for name, kind in likelihoods.items() if kind != "categorical"]
        deviation = np.sqrt(cells.scatter / np.where(cells.weight > 0, cells.weight, 1.0))
        rounded = rounded_deviations(cells.mean, deviation, numeric, float(np.finfo(float).eps))
        attributes = {"likelihoods_": likelihoods, "class_count_": statistic.weight, "class_log_prior_": log_prior}
        rule = AdditiveRule(log_prior, terms, tuple(kind == "categorical" for kind in statistic.likelihoods))
        return Solved(rule, statistic, attributes, remarks=remarks if rounded is None else (*remarks, rounded))

    def rule_size(self, solved: Solved) -> float:
        """Two numbers for a measurement, one for a count, one less than the levels else."""
        statistic = solved.statistic
        numeric = sum(2 if likelihood in MEASUREMENTS else 1 for likelihood in statistic.likelihoods)
        levels = sum(max(len(known) - 2, 0) for known in statistic.counts.levels or ())
        return float((len(statistic.classes) - 1) * (1 + numeric + levels))


def _column(key: Any, names: Sequence[str]) -> str:
    """The column that a key of ``likelihoods`` means: its name, or its number."""
    if isinstance(key, (int, np.integer)) and not isinstance(key, bool) and 0 <= key < len(names):
        return names[int(key)]
    if key not in names:
        raise ParameterError(
            f"The 'likelihoods' parameter names {key!r}, but X has no such column: {name_list(names)}."
        )
    return str(key)


def _check_levels(names: Sequence[str], known: Known | None, x: Mixed) -> None:
    """Raise for infinity, and for text where levels were numbers or the reverse: all of them would be unknown."""
    for j, (name, (levels, _)) in enumerate(zip(names, x.levels, strict=True)):
        text = levels.dtype.kind == "U"
        if not text and len(levels) and not np.isfinite(levels[[0, -1]]).all():
            raise DataError(f"Input X contains infinity: column '{name}' must hold categories.")
        if known is None or not len(known[j]) or not len(levels):
            continue
        if (known[j].dtype.kind == "U") != text:
            before, now = ("numbers", "text") if text else ("text", "numbers")
            raise DataError(f"Column '{name}' held {before} when the model was fitted and holds {now} now.")


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


def _is_whole(levels: NDArray[Any], size: int) -> bool:
    """Are these all levels up to the last? Texts always are."""
    return not size or levels.dtype.kind == "U" or levels.item(-1) == size - 1


def _dense(statistic: ClassCounts, least: NDArray[np.int64]) -> tuple[list[NDArray[Any]], list[int], Floats]:
    """The levels of each column, numbered categories without a gap, up to ``least``; where each column begins; counts.

    Categories of text that may come later have no name yet.
    """
    assert statistic.levels is not None
    sizes = list(map(len, statistic.levels))
    if not any(least.tolist()) and all(map(_is_whole, statistic.levels, sizes)):
        return list(statistic.levels), list(accumulate(sizes, initial=0)), statistic.count.copy()
    categories, bounds = [], [0]
    for levels, fewest in zip(statistic.levels, least.tolist(), strict=True):
        named, size = levels.dtype.kind == "U", len(levels)
        whole = size if named or not size else int(levels[-1]) + 1
        whole = max(whole, fewest)
        categories.append(levels if named or size == whole else np.arange(whole, dtype=np.float64))
        bounds.append(bounds[-1] + whole)
    count = np.zeros((len(statistic.count), bounds[-1]))
    places = [
        start + (np.arange(len(levels)) if levels.dtype.kind == "U" else levels.astype(np.int64))
        for start, levels in zip(bounds, statistic.levels, strict=False)
    ]
    count[:, np.concatenate(places)] = statistic.count
    return categories, bounds, count
