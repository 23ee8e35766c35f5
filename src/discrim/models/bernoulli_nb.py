"""Bernoulli naive Bayes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np

from discrim.errors import DataError, ParameterError
from discrim.families.rule import LinearRule
from discrim.inference.conjugate import BetaPosterior
from discrim.inference.summary import Summary
from discrim.models.beyond import METHODS
from discrim.models.counts_base import CountsClassifier
from discrim.models.counts_summary import counts_summary, place_of
from discrim.models.forgetting import check_indicators
from discrim.models.parameters import Check, array_like, boolean, either, none, number
from discrim.models.registry import Entry, enter, zeros_and_ones
from discrim.models.scoring import score_margin
from discrim.solvers.counts import Bernoulli
from discrim.solvers.threshold import best_shift
from discrim.sources import Rows
from discrim.statistics import ClassCounts
from discrim.typing import Floats


class BernoulliNB(CountsClassifier):
    """Columns that are there or not, independently of each other within a class.

    **Model.** x_j = 1 with probability phi_kj in class k, independently over the columns j; class k has probability
    pi_k. phi_kj ~ Beta(a, b), pi ~ Dirichlet(class_alpha).

    **Statistic.** Class weights n_k and the weight N_kj of the rows of class k with x_j = 1 (``ClassCounts``).

    **Estimate.** Posterior means phi_kj = (N_kj + a) / (n_k + a + b), pi_k = (n_k + class_alpha) / (n + K class_alpha).

    **Rule.** Linear in x: the largest log pi_k + sum_j log(1 - phi_kj) + sum_j x_j log(phi_kj / (1 - phi_kj)).

    Cost: one read of the stored entries, K p numbers of memory.

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

    _signed = True
    _constraints: ClassVar[dict[str, Check]] = {
        **CountsClassifier._constraints,
        "binarize": either(none(), number(0)),
        "beta": either(none(), array_like()),
        "tune_intercept": boolean(),
        "methods": METHODS,
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
        beta: Any = None,
        class_alpha: Any = 0.0,
        tune_intercept: bool = False,
        alphas: Any = None,
        cv: Any = 10,
        methods: Literal["scikit-learn", "all"] = "scikit-learn",
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.beta = beta
        self.class_alpha = class_alpha
        self.tune_intercept = tune_intercept
        self.alphas = alphas
        self.cv = cv
        self.methods = methods

    @property
    def coef_(self) -> Floats:
        """Log odds of every column: of the second class against the first, or for each class."""
        coef = self._check_solved()._rule.coef
        return coef[1:] - coef[:1] if len(coef) == 2 else coef

    @property
    def intercept_(self) -> Floats:
        """The constants that go with ``coef_``."""
        offset = self._check_solved()._rule.offset
        return offset[1:] - offset[:1] if len(offset) == 2 else offset

    def posterior(self, feature: Any, cls: Any) -> BetaPosterior:
        """What is known of phi_kj, for the column ``feature`` (name or number) of class ``cls``."""
        k = place_of(cls, self._check_solved().classes_, "class")
        j = place_of(feature, self._names, "column")
        a, b = (self._at(part, j) for part in self._family().pair(self.alpha_))
        return BetaPosterior(a, b).after(float(self.feature_count_[k, j]), float(self.class_count_[k]))

    def _family(self) -> Bernoulli:
        threshold = None if self.binarize is None else float(self.binarize)
        return Bernoulli(threshold, None if self.beta is None else _beta_pair(self.beta))

    def _subtract(self, gone: ClassCounts) -> ClassCounts:
        left = super()._subtract(gone)
        check_indicators(self.statistic_, left, self._names)
        return left

    def _solved(self, statistic: ClassCounts, rows: Rows | None) -> tuple[LinearRule, ClassCounts]:
        self._check_binary(statistic)
        self._check_beta(statistic.n_features)
        rule, statistic = super()._solved(statistic, rows)
        return (self._tuned(rule, rows) if self.tune_intercept else rule), statistic

    def _tuned(self, rule: LinearRule, rows: Rows | None) -> LinearRule:
        """The rule with the constant of fewest training errors."""
        if rows is None:
            raise ParameterError("tune_intercept=True needs the rows themselves: use fit on all rows.")
        if len(self.classes_) != 2 or self._never is not None:
            raise DataError(
                f"tune_intercept=True needs two classes and alpha above zero; found {len(self.classes_)} classes."
            )
        margin = score_margin(rule, rows).astype(np.float64)
        blocks = list(rows.blocks())
        second = np.concatenate([np.asarray(b.classes[b.codes] == self.classes_[1]) for b in blocks])
        weight = np.concatenate([np.ones(len(b)) if b.weight is None else b.weight for b in blocks])
        return replace(rule, offset=rule.offset + np.array([0.0, best_shift(margin, second, weight)]))

    def _check_beta(self, p: int) -> None:
        if any(np.ndim(part) and len(part) != p for part in self._family().beta or ()):
            raise ParameterError.bad_value("beta", self.beta, f"a pair (a, b) of numbers or arrays of {p} numbers")

    def _check_binary(self, s: ClassCounts) -> None:
        if self.binarize is not None:
            return
        slack = 1e-9 * s.weight[:, None]
        wrong = (s.count < -slack) | (s.count > s.weight[:, None] + slack)
        if wrong.any():
            name = self._names[int(np.argmax(wrong.any(axis=0)))]
            raise DataError(
                f"With binarize=None every entry of X must be 0 or 1; column '{name}' has other values. "
                "Set binarize to the number above which an entry counts as 1."
            )

    @staticmethod
    def _at(value: Any, j: int) -> float:
        return float(np.asarray(value)[j] if np.ndim(value) else value)

    def _summarise(self) -> Summary:
        a, b = self._family().pair(self.alpha_)
        n, total = self.class_count_[:, None], self.class_count_.sum()
        here = self.feature_count_ + a, n - self.feature_count_ + b
        rest = self.feature_count_.sum(axis=0) - self.feature_count_
        return counts_summary(self, "Bernoulli naive Bayes", here, (rest + a, total - n - rest + b))


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


enter(
    Entry(
        "Bernoulli NB",
        BernoulliNB,
        lambda _: BernoulliNB(alpha="loo"),
        cost=5,
        why_not=zeros_and_ones,
        offered=lambda rows: rows.counts == "binary",
        words=True,
    )
)
