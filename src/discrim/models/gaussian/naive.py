"""Gaussian naive Bayes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from discrim.families.gaussian.covariance import Normalization
from discrim.families.gaussian.naive import GaussianNBRecipe, Smoothing
from discrim.families.rule import Output
from discrim.inference.summary import Summary, Table
from discrim.models.beyond import METHODS, beyond_sklearn
from discrim.models.parameters import Check, array_like, either, none, number, one_of
from discrim.models.registry import Entry, enter, mixed
from discrim.models.shell import RecipeClassifier, recipe_from


@dataclass(eq=False, repr=False, kw_only=True)
class GaussianNB(RecipeClassifier):
    """Gaussian classes whose columns are independent of each other.

    **Model.** x_j | class k ~ N(theta_kj, var_kj) independently over the columns j, class k with probability pi_k.

    **Statistic.** Class weights n_k, means and centred sums of squares (``ClassMoments``, diagonal).

    **Estimate.** pi_k = n_k / n, theta_kj the mean, var_kj = S_kj / n_k + epsilon. The smoothing is added on
    reading, so that any number of parts gives what one fit gives. As in scikit-learn epsilon is var_smoothing times
    the largest total variance of all columns. With smoothing='column' it is relative to its own column,
    epsilon_j = var_smoothing * (total variance of column j), so that units do not matter, and a column that is constant
    within class k has var_kj = (total variance) / n_k instead of nearly nothing.

    **Rule.** The largest log pi_k - sum_j [log var_kj + (x_j - theta_kj)^2 / var_kj] / 2.

    Cost: one read of X, 2 n p operations, 4 K p numbers of memory.

    Parameters
    ----------
    priors : array of K numbers that sum to one, or None for the shares of the classes
    var_smoothing : float
        The share of a total variance that is added to the class variances.
    normalization : {'mle', 'unbiased'}
    smoothing : {'scikit-learn', 'column'}
        Whose total variance: the largest of all columns, or that of the column itself.
    methods : {'scikit-learn', 'all'}
        'all' adds ``decision_function``, which scikit-learn's class lacks: with it, clients that prefer it to
        ``predict_proba`` would put their threshold on something else.

    Attributes
    ----------
    theta_, var_ : K x p means and variances
    class_count_, class_prior_, classes_ : weights, priors and labels
    epsilon_ : what was added to the variances; with smoothing='column' p numbers
    statistic_ : the raw statistic

    Examples
    --------
    >>> from discrim import GaussianNB, datasets
    >>> X, y = datasets.load_iris().xy
    >>> GaussianNB().fit(X, y).score(X, y)
    0.96
    """

    theta_: NDArray[Any] = field(init=False)
    var_: NDArray[Any] = field(init=False)
    class_prior_: NDArray[Any] = field(init=False)

    _constraints: ClassVar[dict[str, Check]] = {
        "priors": either(none(), array_like()),
        "var_smoothing": number(0),
        "normalization": one_of("mle", "unbiased"),
        "smoothing": one_of("scikit-learn", "column"),
        "methods": METHODS,
    }

    priors: Any = None
    var_smoothing: float = 1e-9
    normalization: Normalization = "mle"
    smoothing: Smoothing = "scikit-learn"
    methods: Literal["scikit-learn", "all"] = "scikit-learn"

    decision_function = beyond_sklearn(RecipeClassifier.decision_function)

    def predict_joint_log_proba(self, X: Any) -> NDArray[Any]:
        """log pi_k + log density of the row in class k, n x K."""
        return np.asarray(self._apply(X, Output.SCORES) - 0.5 * self._design.n_out * np.log(2.0 * np.pi))

    def recipe(self) -> GaussianNBRecipe:
        """The model that these parameters describe."""
        return recipe_from(GaussianNBRecipe, self)

    def _summarise(self) -> Summary:
        labels = [str(label) for label in self.classes_]
        statistic = self.statistic_
        facts = {"Rows": int(statistic.rows.sum()), "Columns": statistic.n_features, "Classes": len(labels)}
        groups = np.column_stack([self.class_prior_, statistic.rows])
        tables = [
            Table("Means", labels, self._names, self.theta_),
            Table("Standard deviations", labels, self._names, np.sqrt(self.var_)),
            Table("Groups", labels, ["prior", "rows"], groups),
        ]
        return Summary("Gaussian naive Bayes", facts, tables, names=self._names, means=self.theta_, variances=self.var_)


enter(Entry("Gaussian NB", GaussianNB, {"smoothing": "column"}, cost=1, offered=lambda rows: not mixed(rows)))
