"""Multinomial naive Bayes, by the counts of each class or by those of all others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from discrim.families.counts.recipe import ComplementRecipe, MultinomialRecipe
from discrim.families.counts.rule import complements
from discrim.inference.conjugate import BetaPosterior, DirichletPosterior
from discrim.inference.summary import Summary
from discrim.models.counts.base import SHARED, CountsClassifier, against_all, place_of
from discrim.models.parameters import Check, boolean
from discrim.models.registry import Entry, Facts, counts, enter
from discrim.models.shell import recipe_from
from discrim.typing import Floats


@dataclass(eq=False, repr=False, kw_only=True)
class MultinomialNB(CountsClassifier):
    """Counts, such as those of words, drawn independently from each class's own shares.

    **Model.** A row x of class k is a multinomial sample: each of its sum_j x_j draws is column j with probability
    theta_kj; class k has probability pi_k. theta_k ~ Dirichlet(alpha_1, ..., alpha_p), pi ~ Dirichlet(class_alpha).

    **Statistic.** Class weights n_k and sums of the columns N_kj = sum_{i in k} w_i x_ij (``ClassCounts``).

    **Estimate.** Posterior means theta_kj = (N_kj + alpha_j) / sum_j (N_kj + alpha_j) and
    pi_k = (n_k + class_alpha) / (n + K class_alpha); a word that a class never had keeps positive probability.

    **Rule.** The largest log pi_k + sum_j x_j log theta_kj.

    Cost: one read of the stored entries, K p values of memory.

    Parameters
    ----------
    alpha : float, array of p numbers, 'loo' or 'cv'
        Added to the counts. 'loo' chooses the number whose leave-one-out predictions have the least log loss, in
        closed form: without row i only the entries of row i change, in its own class. 'cv' does so by ``cv`` folds.
    force_alpha : bool
        Use an alpha below 1e-10 as it is. With alpha = 0 a row that is impossible in every class gets the
        posterior that small alpha tend to.
    fit_prior : bool
        Learn pi from the rows; else all classes are equally probable.
    class_prior : array of K numbers, or None
        Probabilities of the classes, as they are.
    class_alpha : float or array of K numbers
        Added to the class counts.
    alphas : list of positive numbers, or None
        What 'loo' and 'cv' try; None is twenty values from 0.001 to 10, for 'loo' refined about the best.
    cv : int or splitter
        Folds of alpha='cv'.

    Attributes
    ----------
    feature_count_, feature_log_prob_ : K x p, N_kj and log theta_kj
    class_count_, class_log_prior_, classes_ : weights, log pi_k and labels
    alpha_ : what was added
    alphas_, loo_log_loss_, loo_error_, cv_log_loss_, cv_error_ : what was tried, and the held-out losses
    statistic_ : the raw statistic

    Examples
    --------
    >>> from discrim import MultinomialNB
    >>> X, y = [[3, 0, 1], [2, 1, 0], [0, 2, 2], [1, 3, 3]], ["sport", "sport", "law", "law"]
    >>> MultinomialNB().fit(X, y).predict([[1, 0, 0], [0, 1, 0]]).tolist()
    ['sport', 'law']
    """

    def feature_posterior(self, cls: Any) -> DirichletPosterior:
        """What is known of all probabilities theta_k of class ``cls``: Dirichlet(alpha + N_k)."""
        k = place_of(cls, self._check_solved().classes_, "class")
        return DirichletPosterior(self.feature_count_[k] + self.alpha_)

    def posterior(self, feature: Any, cls: Any) -> BetaPosterior:
        """What is known of theta_kj, for the column ``feature`` (name or number) of class ``cls``."""
        return self.feature_posterior(cls).marginal(place_of(feature, self._names, "column"))

    def recipe(self) -> MultinomialRecipe:
        """The model that these parameters describe."""
        return recipe_from(MultinomialRecipe, self, model=type(self).__name__)

    def _summarise(self) -> Summary:
        a = self.feature_count_ + self.alpha_
        return self._counts_summary("Multinomial naive Bayes", against_all(a), against_all(a.sum(axis=0) - a))


@dataclass(eq=False, repr=False, kw_only=True)
class ComplementNB(CountsClassifier):
    """Multinomial naive Bayes that asks how little a row looks like all other classes.

    **Model.** The counts of the rows outside class k are multinomial with probabilities q_kj (Rennie and others, 2003).

    **Statistic.** Class weights and sums of the columns N_kj (``ClassCounts``).

    **Estimate.** q_kj = (C_kj + alpha_j) / sum_j (C_kj + alpha_j), with C_kj = sum_{l != k} N_lj. Every class is
    judged by many rows, so that small classes do as well as large ones.

    **Rule.** The largest -sum_j x_j log q_kj; with ``norm`` the weights log q_kj of a class are divided by their sum.
    Classes have no prior probabilities, and posteriors are the softmax of the scores.

    Cost: one read of the stored entries, K p values of memory.

    Parameters
    ----------
    alpha : float, array of p numbers, 'loo' or 'cv'
        Added to the counts. 'loo' chooses the number whose leave-one-out predictions have the least log loss, in
        closed form: row i is in the complement of every class but its own. 'cv' does so by ``cv`` folds.
    force_alpha : bool
        Use an alpha below 1e-10 as it is. With alpha = 0 a column that only one class has decides for it.
    fit_prior, class_prior, class_alpha
        As in ``MultinomialNB``; they matter only where there is a single class.
    norm : bool
    alphas : list of positive numbers, or None
        What 'loo' and 'cv' try; None is twenty values from 0.001 to 10, for 'loo' refined about the best.
    cv : int or splitter
        Folds of alpha='cv'.

    Attributes
    ----------
    feature_count_, feature_all_ : N_kj, K x p, and its sum over the classes
    feature_log_prob_ : K x p weights
    class_count_, class_log_prior_, classes_ : weights, log shares and labels
    alpha_ : what was added
    alphas_, loo_log_loss_, loo_error_, cv_log_loss_, cv_error_ : what was tried, and the held-out losses
    statistic_ : the raw statistic

    Examples
    --------
    >>> from discrim import ComplementNB
    >>> X, y = [[3, 0, 1], [2, 1, 0], [0, 2, 2], [1, 3, 3]], ["sport", "sport", "law", "law"]
    >>> ComplementNB().fit(X, y).predict([[1, 0, 0], [0, 1, 0]]).tolist()
    ['sport', 'law']
    """

    _constraints: ClassVar[dict[str, Check]] = {**SHARED, "norm": boolean()}

    feature_all_: Floats = field(init=False)

    norm: bool = False

    def recipe(self) -> ComplementRecipe:
        """The model that these parameters describe."""
        return recipe_from(ComplementRecipe, self, model=type(self).__name__)

    def _summarise(self) -> Summary:
        a, rest = self.feature_count_ + self.alpha_, complements(self.feature_count_) + self.alpha_
        return self._counts_summary("Complement naive Bayes", against_all(a), against_all(rest))


def _entry(name: str, kind: type[CountsClassifier], alpha: str, cost: float) -> Entry:
    def offered(rows: Facts) -> bool:
        return rows.counts == "counts"

    return Entry(name, kind, {"alpha": alpha}, cost=cost, why_not=counts, offered=offered, words=True)


enter(_entry("Multinomial NB", MultinomialNB, "loo", 3), _entry("Complement NB", ComplementNB, "cv", 4))
