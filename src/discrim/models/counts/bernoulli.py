"""Bernoulli naive Bayes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from discrim.families.counts.recipe import BernoulliRecipe
from discrim.inference.conjugate import BetaPosterior
from discrim.inference.summary import Summary
from discrim.models.beyond import METHODS
from discrim.models.counts.base import SHARED, CountsClassifier, place_of
from discrim.models.parameters import Check, array_like, boolean, either, none, number
from discrim.models.registry import Entry, Facts, enter, zeros_and_ones
from discrim.models.shell import recipe_from
from discrim.typing import Floats


@dataclass(eq=False, repr=False, kw_only=True)
class BernoulliNB(CountsClassifier):
    """Columns that are there or not, independently of each other within a class.

    **Model.** x_j = 1 with probability phi_kj in class k, independently over the columns j; class k has probability
    pi_k. phi_kj ~ Beta(a, b), pi ~ Dirichlet(class_alpha).

    **Statistic.** Class weights n_k and the weight N_kj of the rows of class k with x_j = 1 (``ClassCounts``).

    **Estimate.** Posterior means phi_kj = (N_kj + a) / (n_k + a + b), pi_k = (n_k + class_alpha) / (n + K class_alpha).

    **Rule.** Linear in x: the largest log pi_k + sum_j log(1 - phi_kj) + sum_j x_j log(phi_kj / (1 - phi_kj)).

    Cost: one read of the stored entries, K p values of memory.

    Parameters
    ----------
    alpha : float, array of p numbers, 'loo' or 'cv'
        a = b = alpha. 'loo' chooses the number whose leave-one-out predictions have the least log loss, in closed
        form; 'cv' does so by ``cv`` folds.
    force_alpha : bool
        Use an alpha below 1e-10 as it is. With alpha = 0 a row that is impossible in every class gets the
        posterior that small alpha tend to.
    binarize : float or None
        Entries above it count as 1, all others as 0; None where X is zeros and ones already.
    fit_prior : bool
        Learn pi from the rows; else all classes are equally probable.
    class_prior : array of K numbers, or None
        Probabilities of the classes, as they are.
    beta : pair (a, b) of numbers or arrays of p numbers, or None
        Parameters of the Beta prior, instead of alpha.
    class_alpha : float or array of K numbers
        Added to the class counts.
    tune_intercept : bool
        For two classes: keep the direction, and choose the constant that makes the fewest errors on the training
        rows; of several the one nearest to the constant of the model.
    alphas : list of positive numbers, or None
        What 'loo' and 'cv' try; None is twenty values from 0.001 to 10, for 'loo' refined about the best.
    cv : int or splitter
        Folds of alpha='cv'.
    methods : {'scikit-learn', 'all'}
        'all' adds ``decision_function``, which scikit-learn's class lacks: with it, clients that prefer it to
        ``predict_proba`` would put their threshold on something else.

    Attributes
    ----------
    feature_count_, feature_log_prob_ : K x p, N_kj and log phi_kj
    class_count_, class_log_prior_, classes_ : weights, log pi_k and labels
    coef_, intercept_ : the linear rule; for two classes 1 x p and 1, second class against first
    alpha_ : what was added
    alphas_, loo_log_loss_, loo_error_, cv_log_loss_, cv_error_ : what was tried, and the held-out losses
    statistic_ : the raw statistic

    Examples
    --------
    >>> from discrim import BernoulliNB
    >>> X, y = [[1, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0]], [0, 0, 1, 1]
    >>> model = BernoulliNB().fit(X, y)
    >>> model.predict([[1, 0, 1]]).tolist()
    [0]
    >>> model.posterior(feature=1, cls=1)
    BetaPosterior(a=3.0, b=1.0)
    """

    _constraints: ClassVar[dict[str, Check]] = {
        **SHARED,
        "binarize": either(none(), number(0)),
        "beta": either(none(), array_like()),
        "tune_intercept": boolean(),
        "methods": METHODS,
    }
    _input_tags: ClassVar[Mapping[str, bool]] = {"sparse": True}

    binarize: float | None = 0.0
    beta: Any = None
    tune_intercept: bool = False
    methods: Literal["scikit-learn", "all"] = "scikit-learn"

    @property
    def coef_(self) -> Floats:
        """Log odds of every column: of the second class against the first, or for each class."""
        coef: Floats = self._scored().coef
        return coef[1:] - coef[:1] if len(coef) == 2 else coef

    @property
    def intercept_(self) -> Floats:
        """The constants that go with ``coef_``."""
        offset: Floats = self._scored().offset
        return offset[1:] - offset[:1] if len(offset) == 2 else offset

    def posterior(self, feature: Any, cls: Any) -> BetaPosterior:
        """What is known of phi_kj, for the column ``feature`` (name or number) of class ``cls``."""
        k = place_of(cls, self._check_solved().classes_, "class")
        j = place_of(feature, self._names, "column")
        a, b = (float(np.broadcast_to(part, len(self._names))[j]) for part in self.recipe().added(self.alpha_))
        return BetaPosterior(a, b).update(float(self.feature_count_[k, j]), float(self.class_count_[k]))

    def recipe(self) -> BernoulliRecipe:
        """The model that these parameters describe."""
        return recipe_from(BernoulliRecipe, self, model=type(self).__name__)

    def _scored(self) -> Any:
        """The rule, which is linear but for alpha = 0, where it has the same parts."""
        return self.solution().rule

    def _summarise(self) -> Summary:
        a, b = self.recipe().added(self.alpha_)
        n, total = self.class_count_[:, None], self.class_count_.sum()
        here = self.feature_count_ + a, n - self.feature_count_ + b
        rest = self.feature_count_.sum(axis=0) - self.feature_count_
        return self._counts_summary("Bernoulli naive Bayes", here, (rest + a, total - n - rest + b))


def _offered(rows: Facts) -> bool:
    return rows.counts == "binary"


enter(
    Entry("Bernoulli NB", BernoulliNB, {"alpha": "loo"}, cost=5, why_not=zeros_and_ones, offered=_offered, words=True)
)
