"""Naive Bayes for categories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from numpy.typing import NDArray

from discrim.families.mixed.recipe import CategoricalRecipe
from discrim.inference.conjugate import DirichletPosterior
from discrim.inference.summary import Summary
from discrim.models.beyond import METHODS, beyond_sklearn
from discrim.models.counts.base import place_of
from discrim.models.mixed.base import Levels, MixedClassifier
from discrim.models.parameters import Check, array_like, boolean, either, none, number, one_of
from discrim.sources import Schema
from discrim.typing import Floats


@dataclass(eq=False, repr=False, kw_only=True)
class CategoricalNB(MixedClassifier):
    """Columns of categories that are independent of each other within a class.

    **Model.** x_j | class k is level l with probability p_kjl, independently over the columns j; class k with
    probability pi_k.

    **Statistic.** Class weights n_k and how often each level was met in each class, N_kjl (``ClassCounts``).

    **Estimate.** p_kjl = (N_kjl + alpha_j) / (n_k + alpha_j L_j): the predictive mean with Dirichlet(alpha_j) over the
    L_j levels. A level that was never met in any class gets alpha_j / (n_k + alpha_j L_j), what a known level without
    rows in class k gets.

    **Rule.** The largest log pi_k + sum_j log p_kj(x_j): one look into a table for each column.

    Cost: one read of X, K (L_1 + ... + L_p) values of memory. Arrays hold the numbers 0, 1, 2, ... of the
    categories, as in scikit-learn, which also cuts off fractions; in frames and scans a column may also be text or
    categorical, and its levels are found on the way.

    Parameters
    ----------
    alpha : float, array of p numbers, or 'loo'
        Rows that are added to each level. 'loo' chooses for each column the one under which each row is likeliest
        given all others, from the counts alone.
    force_alpha : bool
        With False an alpha below 1e-10 becomes 1e-10, with a warning.
    fit_prior : bool
        Are the priors the shares of the classes? Else they are equal.
    class_prior : array of K numbers that sum to one, or None
    min_categories : int or array of p integers, or None
        The least number of categories of a column, for those that may come later.
    methods : {'scikit-learn', 'all'}
        'all' adds ``decision_function``, which scikit-learn's class lacks: with it, clients that prefer it to
        ``predict_proba`` would put their threshold on something else.

    Attributes
    ----------
    category_count_, feature_log_prob_ : for each column K x L_j counts and logarithms of probabilities
    categories_, n_categories_ : for each column its levels, and their number
    class_count_, class_log_prior_, classes_ : weights, logarithms of the priors, and labels
    alpha_ : the alpha of each column
    statistic_ : the raw statistic

    Examples
    --------
    >>> import numpy as np
    >>> from discrim import CategoricalNB
    >>> X = np.array([[0, 2], [1, 0], [0, 1], [1, 1]])
    >>> CategoricalNB().fit(X, ["a", "b", "a", "b"]).predict([[0, 7]])
    array(['a'], dtype='<U1')
    """

    categories_: list[NDArray[Any]] = field(init=False)
    category_count_: list[Floats] = field(init=False)
    n_categories_: NDArray[Any] = field(init=False)
    alpha_: Floats = field(init=False)

    _constraints: ClassVar[dict[str, Check]] = {
        "alpha": either(number(0), one_of("loo"), array_like()),
        "force_alpha": boolean(),
        "fit_prior": boolean(),
        "class_prior": either(none(), array_like()),
        "min_categories": either(none(), number(1), array_like()),
        "methods": METHODS,
    }
    _input_tags: ClassVar[Mapping[str, bool]] = {"categorical": True, "positive_only": True}

    alpha: Any = 1.0
    force_alpha: bool = True
    fit_prior: bool = True
    class_prior: Any = None
    min_categories: Any = None
    methods: Literal["scikit-learn", "all"] = "scikit-learn"

    decision_function = beyond_sklearn(MixedClassifier.decision_function)

    def recipe(self) -> CategoricalRecipe:
        """The model that these parameters describe."""
        return CategoricalRecipe(self.fit_prior, self.class_prior, self.alpha, self.force_alpha, self.min_categories)

    def columns_from(self, statistic: Any) -> dict[str, Any]:
        """What a statistic alone says of the columns: names by their numbers, and whether they hold text."""
        kinds: Any = tuple("text" if levels.dtype.kind == "U" else "number" for levels in statistic.levels)
        names = tuple(f"x{j}" for j in range(len(kinds)))
        return {"n_features_in_": len(kinds), "_design": Schema(names, kinds, (True,) * len(kinds), named=False)}

    def posterior(self, feature: Any, cls: Any) -> DirichletPosterior:
        """What is known of the probabilities of the levels ``categories_`` of column ``feature`` in class ``cls``."""
        k = place_of(cls, self._check_solved().classes_, "class")
        j = place_of(feature, self._names, "column")
        return DirichletPosterior(self.category_count_[j][k] + self.alpha_[j])

    def _summarise(self) -> Summary:
        columns = {name: [int(n)] for name, n in zip(self._names, self.n_categories_, strict=True)}
        parts = zip(self._names, self.categories_, self.category_count_, self.alpha_, strict=True)
        levels = [Levels(name, known, count, float(alpha)) for name, known, count, alpha in parts]
        return self._additive_summary("Categorical naive Bayes", ["levels"], columns, levels)
