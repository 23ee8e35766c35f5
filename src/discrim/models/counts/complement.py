"""Complement naive Bayes."""

from __future__ import annotations

from typing import Any, ClassVar

from discrim.families.counts.recipe import ComplementRecipe
from discrim.families.counts.rule import complements
from discrim.inference.summary import Summary
from discrim.models.counts.base import SHARED, CountsClassifier
from discrim.models.counts.summary import counts_summary
from discrim.models.parameters import Check, boolean
from discrim.models.registry import Entry, counts, enter
from discrim.typing import Floats


class ComplementNB(CountsClassifier):
    """Multinomial naive Bayes that asks how little a row looks like all other classes.

    **Model.** The counts of the rows outside class k are multinomial with probabilities q_kj (Rennie and others, 2003).

    **Statistic.** Class weights and sums of the columns N_kj (``ClassCounts``).

    **Estimate.** q_kj = (C_kj + alpha_j) / sum_j (C_kj + alpha_j), with C_kj = sum_{l != k} N_lj. Every class is
    judged by many rows, so that small classes do as well as large ones.

    **Rule.** The largest -sum_j x_j log q_kj; with ``norm`` the weights log q_kj of a class are divided by their sum.
    Classes have no prior probabilities, and posteriors are the softmax of the scores.

    Cost: one read of the stored entries, K p numbers of memory.

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

    feature_all_: Floats

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        norm: bool = False,
        class_alpha: Any = 0.0,
        alphas: Any = None,
        cv: Any = 10,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm
        self.class_alpha = class_alpha
        self.alphas = alphas
        self.cv = cv

    def recipe(self) -> ComplementRecipe:
        """The model that these parameters describe."""
        return ComplementRecipe(norm=self.norm, **self._shared())

    def _summarise(self) -> Summary:
        a, rest = self.feature_count_ + self.alpha_, complements(self.feature_count_) + self.alpha_
        pairs = [(part, part.sum(axis=1, keepdims=True) - part) for part in (a, rest)]
        return counts_summary(self, self._names, "Complement naive Bayes", pairs[0], pairs[1])


enter(
    Entry(
        "Complement NB",
        ComplementNB,
        lambda _: ComplementNB(alpha="cv"),
        cost=4,
        why_not=counts,
        offered=lambda rows: rows.counts == "counts",
        words=True,
    )
)
