"""Learners that differ by their update of a row: stochastic gradient descent, perceptron, passive-aggressive, AROW."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from discrim.errors import ParameterError, warn
from discrim.families.online.scaling import Scaling
from discrim.families.online.updates import Learning
from discrim.kernels.online.reference import LOSSES
from discrim.losses import LOSSES as LOSS_OBJECTS
from discrim.losses import Loss
from discrim.models.online.base import CountedUpdates
from discrim.models.online.parameters import SHARED
from discrim.models.online.stream import StreamClassifier
from discrim.models.parameters import Check, above, number, one_of
from discrim.models.stored import kept

RATES = ("optimal", "constant", "invscaling", "adaptive", "pa1", "pa2", "auto")
# The rate "auto" is STEP / (c R^2 sqrt(t)), with R^2 the mean |z|^2 and c the curvature of the loss, but at most
# 1 / (c |z|^2): a row never goes beyond what would suit it best.
STEP = 15.0
CURVATURE = {"squared_hinge": 2.0, "modified_huber": 2.0, "squared_epsilon_insensitive": 2.0, "squared_error": 1.0}
OTHER_CURVATURE = 0.25


def _rate() -> Check:
    fits, names = one_of(*RATES)
    return fits, f"{names}; one pass by Newton's method is OnePassLogisticRegression"


@dataclass(eq=False, repr=False, kw_only=True)
class SGDClassifier(StreamClassifier):
    """A linear classifier of a chosen loss, by stochastic gradient descent.

    **Model.** Scores w_k'x + b_k; for two classes w'x + b, positive for the second.

    **Estimate.** The minimum of mean loss(y, w'x + b) + alpha ((1 - l1_ratio) |w|^2 / 2 + l1_ratio |w|_1), approached
    by one row after another: w -= eta loss'(y, w'x + b) x. The same rows in the same order as scikit-learn's, so that
    answers agree to rounding. L2 is a number that scales all weights, L1 is given to a column when it is next seen and
    averages are sums that are read at the end: a row costs its entries.

    **Rule.** The largest score; more than two classes are learned each against the rest.

    Cost: an epoch reads the rows once a class (once for all classes with ``shuffle=False`` or
    ``learning_rate="auto"``), with 4 n p multiplications a class.

    **One pass.** ``SGDClassifier(loss="log_loss", learning_rate="auto", average=True, max_iter=1, tol=None)`` needs no
    tuning and one reading of the rows, from memory, a ``scan`` or ``partial_fit``: columns are brought to one size by a
    first look, the rate follows from the rows' length, and the answer is the mean of all weights, for any loss. Few
    rows with many classes are not enough for it; ``OnePassLogisticRegression`` comes closer to the optimum of log loss.

    Parameters
    ----------
    loss : {'hinge', 'log_loss', 'modified_huber', 'squared_hinge', 'perceptron', 'squared_error', 'huber',
        'epsilon_insensitive', 'squared_epsilon_insensitive'}
    penalty : {'l2', 'l1', 'elasticnet', None}
    alpha : float, strength of the penalty
    l1_ratio : float from 0 to 1, used with 'elasticnet'
    fit_intercept : bool
    max_iter : int, the most epochs
    tol : float or None
        Stop when the objective did not fall by ``tol`` in ``n_iter_no_change`` epochs; None: after ``max_iter``.
    shuffle : True, False, 'rows' or 'blocks', a new order for every epoch; a ``scan`` is shuffled through a buffer
        'rows' is scikit-learn's order. With 'blocks' 16 neighbouring rows stay together, and 128 such blocks from
        random places are read side by side, a row of each in turn: faster where rows are not in cache, and sorted rows
        are mixed too. True is 'rows' up to 64 MB, 'blocks' beyond that. Up to 10,000 rows are never put into blocks.
    verbose, n_jobs : accepted, without effect on the answer
    epsilon : float, of 'huber' and the insensitive losses
    random_state : int, RandomState or None
    learning_rate : {'optimal', 'constant', 'invscaling', 'adaptive', 'pa1', 'pa2', 'auto'}
        The first six as in scikit-learn. With 'auto' columns are centred and scaled inside (``alpha`` then penalises
        weights of scaled columns; sparse ones are scaled only), ``eta0`` and ``power_t`` are not used, and coefficients
        are in the user's units.
    eta0, power_t : float, the rate eta0 / t^power_t, and what the other rates make of eta0
    early_stopping : bool, stop by the share of right rows among ``validation_fraction`` of them, which are held out
    validation_fraction : float
    n_iter_no_change : int
    class_weight : dict of class to weight, 'balanced' or None
    warm_start : bool, begin at the coefficients of the last fit
    average : bool or int, answer with the mean of the weights (from so many rows on)

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, t_ : as in scikit-learn
    loss_function_ : the loss as an object with ``value`` and ``slope``

    Examples
    --------
    >>> from discrim import SGDClassifier, datasets
    >>> X, y = datasets.load_iris().xy
    >>> model = SGDClassifier(loss="log_loss", learning_rate="auto", average=True, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.93
    True
    """

    loss_functions: ClassVar[tuple[str, ...]] = LOSSES

    _constraints: ClassVar[dict[str, Check]] = {
        "loss": one_of(*LOSSES),
        **SHARED,
        "epsilon": number(0),
        "learning_rate": _rate(),
        "eta0": above(0),
        "power_t": number(-np.inf),
    }

    loss: str = field(default="hinge", kw_only=False)
    penalty: str | None = "l2"
    alpha: float = 0.0001
    l1_ratio: float | None = 0.15
    epsilon: float = 0.1
    learning_rate: str = "optimal"
    eta0: float = 0.01
    power_t: float = 0.5
    average: bool | int = False

    def _check_probabilities(self) -> None:
        if self.loss not in {"log_loss", "modified_huber"}:
            raise AttributeError(f"probability estimates are not available for loss={self.loss!r}")

    def _probabilities(self, scores: NDArray[Any]) -> NDArray[Any]:
        """The logistic function, or (score + 1) / 2 within [0, 1]; those of more than two classes are rescaled."""
        one = expit(scores) if self.loss == "log_loss" else (np.clip(scores, -1, 1) + 1) / 2
        if one.ndim == 1:
            return np.column_stack([1 - one, one])
        total = one.sum(axis=1, keepdims=True)
        return np.asarray(np.where(total > 0, one / np.where(total > 0, total, 1.0), 1.0 / one.shape[1]))

    @property
    def posterior_form(self) -> str | None:
        return {"log_loss": "each logistic", "modified_huber": "each clipped"}.get(self.loss)

    @property
    def loss_function_(self) -> Loss:
        """The loss of a score, and its slope."""
        name = {"log_loss": "log", "squared_error": "squared"}.get(self.loss, self.loss)
        if "_coef" not in self.__dict__ or name not in LOSS_OBJECTS:
            raise AttributeError(f"This SGDClassifier is not fitted yet, or its loss {self.loss!r} is for regression.")
        return LOSS_OBJECTS[name]

    @property
    def _scales(self) -> bool:  # type: ignore[override]
        return self.learning_rate == "auto"

    def _check_together(self, *, parts: bool) -> None:
        super()._check_together(parts=parts)
        if self.learning_rate == "optimal" and self.alpha == 0:
            raise ParameterError(
                "alpha must be > 0 since learning_rate is 'optimal': alpha is used to compute the optimal learning "
                "rate. Give a small alpha, or another learning_rate."
            )
        if self.learning_rate in {"pa1", "pa2"} and self.loss != "hinge":
            raise ParameterError(f"Learning rate '{self.learning_rate}' only works with loss 'hinge'.")
        if self.power_t < 0:
            warn(
                "Negative values for `power_t` are deprecated: the rate would grow. Use values of 0 or more.",
                FutureWarning,
            )

    def _learning(self, scaling: Scaling | None) -> Learning:
        learning = self._learning_by(
            loss=self.loss,
            rate=self.learning_rate,
            eta0=float(self.eta0),
            power=float(self.power_t),
            epsilon=float(self.epsilon),
        )
        if not self._scales:
            return learning
        curvature = CURVATURE.get(self.loss, OTHER_CURVATURE)
        eta0 = STEP / (curvature * (1.0 + (1.0 if scaling is None else scaling.length)))
        return replace(learning, rate="invscaling", power=0.5, eta0=eta0, cap=1.0 / curvature)


@dataclass(eq=False, repr=False, kw_only=True)
class Perceptron(CountedUpdates, StreamClassifier):
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

    _constraints: ClassVar[dict[str, Check]] = {**SHARED, "eta0": above(0), "multi_class": one_of("ovr", "multinomial")}

    penalty: str | None = None
    alpha: float = 0.0001
    l1_ratio: float | None = 0.15
    eta0: float = 1.0
    random_state: Any = 0
    multi_class: str = "ovr"
    average: bool | int = False

    def _check_together(self, *, parts: bool) -> None:
        super()._check_together(parts=parts)
        if self.multi_class == "multinomial" and (self.penalty is not None or self.early_stopping):
            raise ParameterError("multi_class='multinomial' goes with neither penalty nor early_stopping.")

    def _learning(self, scaling: Scaling | None) -> Learning:  # noqa: ARG002 - as of every learner
        update = "best_class" if self.multi_class == "multinomial" else "gradient"
        return self._learning_by(update=update, loss="perceptron", eta0=float(self.eta0))


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

    def _learning(self, scaling: Scaling | None) -> Learning:  # noqa: ARG002 - as of every learner
        rate = "pa1" if self.loss == "hinge" else "pa2"
        return self._learning_by(rate=rate, eta0=float(self.C))


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

    @kept
    def variance_(self) -> Any:
        """Variances of the weights, 1 before a column was seen."""
        if "_state" not in self.__dict__:
            raise AttributeError("This AROWClassifier has no variances yet: call fit first.")
        columns = self.coef_.shape[1]  # writes out what single rows have changed
        assert self._state.second is not None
        return self._state.second[:, :columns].copy()

    def _learning(self, scaling: Scaling | None) -> Learning:  # noqa: ARG002 - as of every learner
        return self._learning_by(update="confidence", eta0=float(self.r))
