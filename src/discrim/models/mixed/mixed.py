"""Naive Bayes for columns of different kinds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from discrim.errors import DataError, ParameterError
from discrim.families.mixed.estimates import places_by_kind
from discrim.families.mixed.recipe import MixedRecipe
from discrim.inference.conjugate import BetaPosterior, DirichletPosterior, GammaPosterior, NormalPosterior
from discrim.inference.summary import Summary
from discrim.models.counts.base import place_of
from discrim.models.mixed.base import Levels, MixedClassifier
from discrim.models.parameters import Check, array_like, boolean, either, none, number
from discrim.models.registry import Entry, enter, mixed, nothing
from discrim.sources import Schema
from discrim.statistics import MixedStatistic
from discrim.typing import Floats

# What the mean of whole numbers may lose.
ROUNDING = 1e-12

Posterior = BetaPosterior | DirichletPosterior | GammaPosterior | NormalPosterior


def _mapping() -> Check:
    return lambda value: isinstance(value, Mapping), "a dictionary of likelihoods by column"


@dataclass(eq=False, repr=False, kw_only=True)
class MixedNB(MixedClassifier):
    """Numbers, counts, yes-or-no columns and categories side by side, each with a likelihood of its own.

    **Model.** Within class k, which has probability pi_k, the columns are independent: x_j ~ f_kj.

    **Statistic.** For numbers the weight, mean and scatter of each column in each class over the rows that have a
    value, for categories the counts of their levels, for kernel densities bins (``MixedStatistic``).

    **Estimate.** By ``likelihoods_``; n_kj is the weight of the rows of class k in which column j has a value:

    - 'gaussian': mean and variance, smoothed as in ``GaussianNB``.
    - 'student-t': the same, with the uncertainty of mean and variance in it: the predictive density under a
      conjugate prior that is worth ``alpha`` rows like all rows together.
    - 'kernel': Gaussian kernels with Silverman's bandwidth, on at most 512 bins; up to 512 distinct values are exact.
    - 'poisson': the rate (sum + alpha m) / (n_kj + alpha), m the mean count of all rows.
    - 'gamma-poisson': the same with the uncertainty of the rate in it.
    - 'bernoulli': (ones + alpha) / (n_kj + 2 alpha).
    - 'categorical': (count + alpha) / (n_kj + alpha L_j); a level that was never met gets alpha / (n_kj + alpha L_j).

    A missing value (NaN, null) is left out of the sums, in fitting and in predicting. A class in which a column has no
    value at all has the distribution of all rows there, or for levels that of the prior.

    **Rule.** The largest log pi_k + sum_j log f_kj(x_j): an additive model, whose terms ``contributions`` gives.

    Cost: one read of the rows, however many levels they turn out to have.

    Parameters
    ----------
    likelihoods : dict of column name (or number) to likelihood, or None
        For the columns that are not to have the default: 'gaussian' for numbers, integers too, since a code and a
        count cannot be distinguished from a measurement before all rows are read; 'bernoulli' for booleans;
        'categorical' for text and categories.
    alpha : float
        Rows, or rows a level, that the priors are worth.
    fit_prior : bool
        Are the priors the shares of the classes? Else they are equal.
    class_prior : array of K numbers that sum to one, or None
    var_smoothing : float
        For Gaussian columns, as in ``GaussianNB``.

    Attributes
    ----------
    likelihoods_ : dict of column name to likelihood
    class_count_, class_log_prior_, classes_ : weights, logarithms of the priors, and labels
    statistic_ : the raw statistic

    Examples
    --------
    >>> import numpy as np
    >>> from discrim import MixedNB
    >>> X = np.array([[1.5, 0], [1.0, 0], [np.nan, 1], [4.0, 1]])
    >>> model = MixedNB(likelihoods={1: "bernoulli"}).fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[1.2, 0], [np.nan, 1]])
    array(['a', 'b'], dtype='<U1')
    """

    statistic_: MixedStatistic = field(init=False)
    likelihoods_: dict[str, str] = field(init=False)

    _constraints: ClassVar[dict[str, Check]] = {
        "likelihoods": either(none(), _mapping()),
        "alpha": number(0),
        "fit_prior": boolean(),
        "class_prior": either(none(), array_like()),
        "var_smoothing": number(0),
    }
    _input_tags: ClassVar[Mapping[str, bool]] = {"allow_nan": True}
    refuses_missing: ClassVar[bool] = False

    likelihoods: Any = None
    alpha: float = 1.0
    fit_prior: bool = True
    class_prior: Any = None
    var_smoothing: float = 1e-9

    def recipe(self) -> MixedRecipe:
        """The model that these parameters describe."""
        return MixedRecipe(self.fit_prior, self.class_prior, self.likelihoods, self.alpha, self.var_smoothing)

    def columns_from(self, statistic: MixedStatistic) -> dict[str, Any]:
        """What a statistic alone says of the columns: their names, and which hold text."""
        levels = iter(statistic.counts.levels or ())
        levelled = tuple(likelihood == "categorical" for likelihood in statistic.likelihoods)
        kinds: Any = tuple("text" if is_level and next(levels).dtype.kind == "U" else "number" for is_level in levelled)
        return {
            "n_features_in_": len(statistic.names),
            "feature_names_in_": np.array(statistic.names, dtype=object),
            "_design": Schema(statistic.names, kinds, levelled, named=True),
        }

    def posterior(self, feature: Any, cls: Any) -> Posterior:
        """What is known of the parameters of column ``feature`` (name or number) in class ``cls``.

        'bernoulli': a ``BetaPosterior`` of the probability of a one. 'categorical': a ``DirichletPosterior`` of the
        levels that were met, in order. 'poisson' and 'gamma-poisson': a ``GammaPosterior`` of the rate. 'student-t':
        a ``NormalPosterior`` of mean and variance; 'gaussian': the same without a prior, as its estimate has none.
        A kernel density has no parameters.
        """
        k = place_of(cls, self._check_solved().classes_, "class")
        self.check_resumable()
        j = place_of(feature, self.statistic_.names, "column")
        return _posterior_of(self.statistic_, j, k, float(self.alpha))

    def _summarise(self) -> Summary:
        known = _known_shares(self.statistic_)
        columns = {
            name: [likelihood, f"{1.0 - share:.1%}"]
            for (name, likelihood), share in zip(self.likelihoods_.items(), known, strict=True)
        }
        levels = _levels(self.statistic_, float(self.alpha))
        return self._additive_summary("Naive Bayes of mixed columns", ["likelihood", "missing"], columns, levels)


def _levels(statistic: MixedStatistic, alpha: float) -> list[Levels]:
    """The columns of levels and of zeros and ones, with their counts."""
    found, counts, cells = [], statistic.counts, statistic.cells
    for name, likelihood, j in zip(statistic.names, statistic.likelihoods, places_by_kind(statistic), strict=True):
        if likelihood == "categorical":
            assert counts.levels is not None
            found.append(Levels(name, counts.levels[j], counts.of_feature(j), alpha))
        elif likelihood == "bernoulli":
            n, ones = cells.weight[:, j], cells.weight[:, j] * cells.mean[:, j]
            found.append(Levels(name, ("0", "1"), np.column_stack([n - ones, ones]), alpha))
    return found


def _known_shares(statistic: MixedStatistic) -> Floats:
    """The share of the weight that has a value, for each column."""
    kinds = zip(statistic.likelihoods, places_by_kind(statistic), strict=True)
    known = [
        (statistic.counts.of_feature(j) if likelihood == "categorical" else statistic.cells.weight[:, j]).sum()
        for likelihood, j in kinds
    ]
    return np.asarray(np.array(known) / statistic.weight.sum())


enter(Entry("Mixed NB", MixedNB, cost=2, why_not=nothing, offered=mixed))


def _posterior_of(statistic: MixedStatistic, j: int, k: int, alpha: float) -> Posterior:
    """The posterior of column j in class k, with the priors of the likelihoods."""
    likelihood, at, cells = statistic.likelihoods[j], places_by_kind(statistic)[j], statistic.cells
    if likelihood == "categorical":
        return DirichletPosterior(statistic.counts.of_feature(at)[k] + alpha)
    if likelihood == "kernel":
        raise ParameterError(f"Column '{statistic.names[j]}' has a kernel density, which has no parameters.")
    n, mean, scatter = float(cells.weight[k, at]), float(cells.mean[k, at]), float(cells.scatter[k, at])
    _, centre, total = (float(values[at]) for values in cells.pooled())
    if likelihood == "bernoulli":
        return BetaPosterior(alpha, alpha).update(_sum(n, mean), n)
    if likelihood in ("poisson", "gamma-poisson") and n + alpha > 0:
        return GammaPosterior(alpha * centre, alpha).update(_sum(n, mean), n)
    if likelihood == "student-t" and alpha > 0:
        prior = NormalPosterior(centre, alpha, alpha, total)
        return prior.update(n, mean, scatter) if n > 0 else prior
    if n <= 1:
        raise DataError(
            f"Column '{statistic.names[j]}' has {n:g} values in class '{statistic.classes[k]}': without a prior "
            "nothing can be said of its parameters."
        )
    return NormalPosterior.of(n, mean, scatter)


def _sum(n: float, mean: float) -> float:
    """n times the mean; a whole number where only rounding keeps it from being one."""
    total = n * mean
    return float(round(total)) if abs(total - round(total)) <= ROUNDING * n else total
