"""Classifiers that only rows on the wrong side of a margin change: perceptron, passive-aggressive, AROW."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from discrim.errors import ParameterError
from discrim.families.online.scaling import Scaling
from discrim.families.online.updates import Learning
from discrim.models.online.parameters import SHARED, above
from discrim.models.online.stream import StreamClassifier
from discrim.models.parameters import Check, one_of


@dataclass(eq=False, repr=False, kw_only=True)
class Perceptron(StreamClassifier):
    """A hyperplane that every wrong row turns towards itself.

    **Model.** Two classes y = -1 and 1 that a hyperplane w'x + b = 0 separates.

    **Estimate.** A row with y (w'x + b) <= 0 is wrong and corrects w += eta0 y x, b += eta0 y. The end is where the
    loss no longer falls. ``RosenblattPerceptron`` goes on until no row is wrong, has the batch rule and the pocket,
    and reports margins and bounds.

    **Rule.** The largest w_k'x + b_k. More than two classes are learned each against the rest, or, with
    ``multi_class="multinomial"``, compete: a wrong row moves its own class up and the winner down.

    Cost: an epoch reads the rows once, with n p multiplications a class and p for each correction; a sparse row costs
    its entries.

    Parameters
    ----------
    penalty : {None, 'l2', 'l1', 'elasticnet'}, alpha : its strength, l1_ratio : float
    fit_intercept, max_iter, tol, shuffle, random_state, early_stopping, validation_fraction, n_iter_no_change,
    class_weight, warm_start : as in ``SGDClassifier``
    verbose, n_jobs : accepted for scikit-learn's sake, without effect on the answer
    eta0 : float, the size of a correction
    multi_class : {'ovr', 'multinomial'}
    average : bool or int
        Answer with the mean of the weights on the way (from so many rows on), which is steadier where classes overlap.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, t_ : as in scikit-learn
    n_updates_ : int, corrections that were made

    Examples
    --------
    >>> from discrim import Perceptron, datasets
    >>> X, y = datasets.load_iris().xy
    >>> Perceptron().fit(X[:100], y[:100]).score(X[:100], y[:100])
    1.0
    """

    _constraints: ClassVar[dict[str, Check]] = {
        **SHARED,
        "eta0": above(0),
        "multi_class": one_of("ovr", "multinomial"),
    }

    penalty: str | None = None
    alpha: float = 0.0001
    l1_ratio: float | None = 0.15
    eta0: float = 1.0
    random_state: Any = 0
    multi_class: str = "ovr"
    average: bool | int = False

    @property
    def n_updates_(self) -> int:
        """Corrections that the weights have had since they were zero."""
        if "_state" not in self.__dict__:
            raise AttributeError("This Perceptron has made no updates yet: call fit first.")
        return self._updates()

    def _check_together(self, *, parts: bool) -> None:
        super()._check_together(parts=parts)
        if self.multi_class == "multinomial" and (self.penalty is not None or self.early_stopping):
            raise ParameterError("multi_class='multinomial' goes with neither penalty nor early_stopping.")

    def _learning(self, scaling: Scaling | None) -> Learning:
        update = "best_class" if self.multi_class == "multinomial" else "gradient"
        return replace(super()._learning(scaling), update=update, loss="perceptron", eta0=float(self.eta0))


@dataclass(eq=False, repr=False, kw_only=True)
class PassiveAggressiveClassifier(StreamClassifier):
    """Each row that is not beyond the margin is put there by the smallest change of the weights.

    **Model.** A row x of class y = -1 or 1 should have y (w'x + b) >= 1; l = max(0, 1 - y (w'x + b)) is what it lacks.

    **Estimate.** w += tau y x and b += tau y with tau = min(C, l / |x|^2) for loss='hinge' (PA-I), or
    l / (|x|^2 + 1 / (2 C)) for loss='squared_hinge' (PA-II).

    **Rule.** The largest w_k'x + b_k; more than two classes are learned each against the rest.

    Cost: an epoch reads the rows once, with 2 n p multiplications a class; a sparse row costs its entries.

    Parameters
    ----------
    C : float, the largest step (PA-I), or how little steps are softened (PA-II)
    fit_intercept, max_iter, tol, early_stopping, validation_fraction, n_iter_no_change, shuffle, random_state,
    warm_start, class_weight, average : as in ``SGDClassifier``
    loss : {'hinge', 'squared_hinge'}
    verbose, n_jobs : accepted for scikit-learn's sake, without effect on the answer

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, t_ : as in scikit-learn

    Examples
    --------
    >>> from discrim import PassiveAggressiveClassifier, datasets
    >>> X, y = datasets.load_iris().xy
    >>> model = PassiveAggressiveClassifier(random_state=0, average=True).fit(X[50:], y[50:])
    >>> model.coef_.shape
    (1, 4)
    """

    _constraints: ClassVar[dict[str, Check]] = {"C": above(0), "loss": one_of("hinge", "squared_hinge"), **SHARED}

    C: float = 1.0
    loss: str = "hinge"
    average: bool | int = False

    def _learning(self, scaling: Scaling | None) -> Learning:
        rate = "pa1" if self.loss == "hinge" else "pa2"
        return replace(super()._learning(scaling), rate=rate, eta0=float(self.C))


@dataclass(eq=False, repr=False, kw_only=True)
class AROWClassifier(StreamClassifier):
    """Weights with variances: a column that was seen often moves little, a new one much.

    **Model.** w is Gaussian with mean mu and variances v (the diagonal of its covariance), at first 0 and 1.

    **Estimate.** A row x of class y = -1 or 1 with y mu'x < 1 changes mu += beta (1 - y mu'x) y v x and
    v -= beta (v x)^2, with beta = 1 / (sum v x^2 + r). A row of weight c counts with r / c.

    **Rule.** The largest mu_k'x + b_k; more than two classes are learned each against the rest.

    Cost: an epoch reads the rows once, with 4 n p multiplications a class; a sparse row costs its entries. Columns of
    different size need no scaling as long as they stay moderate: variances adapt to them.

    Parameters
    ----------
    r : float, how much the past counts against a new row
    fit_intercept, max_iter, tol, shuffle, random_state, early_stopping, validation_fraction, n_iter_no_change,
    class_weight, warm_start : as in ``SGDClassifier``
    verbose, n_jobs : accepted, without effect

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, t_ : as for ``SGDClassifier``
    variance_ : like ``coef_``, what is still uncertain about each weight

    Examples
    --------
    >>> from discrim import AROWClassifier
    >>> model = AROWClassifier()
    >>> for text, label in [("free money now", "spam"), ("see you at noon", "ham"), ("free lunch at noon", "ham")]:
    ...     model = model.learn_one(dict.fromkeys(text.split(), 1.0), label)
    >>> model.predict_one({"free": 1, "money": 1})
    'spam'
    """

    _constraints: ClassVar[dict[str, Check]] = {"r": above(0), **SHARED}

    r: float = field(default=1.0, kw_only=False)

    @property
    def variance_(self) -> Any:
        """Variances of the weights, 1 before a column was seen."""
        if "_state" not in self.__dict__:
            raise AttributeError("This AROWClassifier has no variances yet: call fit first.")
        columns = self.coef_.shape[1]  # writes out what single rows have changed
        assert self._state.second is not None
        return self._state.second[:, :columns].copy()

    def _learning(self, scaling: Scaling | None) -> Learning:
        return replace(super()._learning(scaling), update="confidence", eta0=float(self.r))
