"""Posteriors for other class shares than those of the training rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special
from sklearn.utils.validation import check_is_fitted

from discrim.atomic import all_or_nothing
from discrim.decision.wrapping import Wrapper, asked, coded_labels
from discrim.errors import DataError, DiscrimWarning, ParameterError, warn
from discrim.evaluation.answers import weights_of
from discrim.exports.exporting import answering_of
from discrim.families.priors import log_priors, resolve_priors
from discrim.families.rule import Described
from discrim.models.parameters import Check, array_like, either, none, one_of
from discrim.sources import recode
from discrim.store.fields import Array, Fields, Flag, Incoming, Number, Optional, Whole, damaged
from discrim.store.kinds import Of, stored
from discrim.typing import Floats

# EM stops when no priors raise the mean log likelihood by more than this, or after so many steps.
GAP = 1e-9
MOST_STEPS = 20_000


# Shares of the classes.
SHARES = Array("K", low=0.0, high=1.0)


@stored(
    "prior shift",
    priors=SHARES,
    training_priors=SHARES,
    n_iter=Whole(),
    converged=Flag(),
    gap=Number(finite=False),
    statistic=Number(finite=False),
    df=Whole(),
    p_value=Number(finite=False),
)
@dataclass(frozen=True, eq=False)
class PriorShift:
    """Class shares that were estimated from posteriors.

    ``statistic`` is twice the gain of log likelihood over no shift, to be compared with chi-square on ``df`` degrees
    of freedom: a small ``p_value`` speaks for a shift. It takes the posteriors for exact. Those of an estimated model
    are not, so that it is too small unless there were many more training rows than new ones; it is not printed.
    ``gap`` bounds what other shares could still add to the mean log likelihood; ``converged`` says whether it is below
    1e-9.
    """

    priors: Floats
    training_priors: Floats
    n_iter: int
    converged: bool
    gap: float
    statistic: float
    df: int
    p_value: float = field(repr=False)


class PriorShiftClassifier(Wrapper):
    """Another classifier's posteriors, carried over to new shares of the classes.

    **Model.** The classes look as they did in training, f_k(x), but have the shares q_k instead of t_k.

    **Rule.** The largest of p_k(x) q_k / t_k, which sums to one after division by the sum over k.

    **Estimate.** With ``priors="em"``, ``adapt(X)`` finds q from rows without labels by maximum likelihood (Saerens,
    Latinne and Decaestecker 2002): posteriors under q, then q as their mean, until nothing is gained. The
    likelihood is concave in q, so it is the maximum. Until then q = t.

    Cost of ``adapt``: one prediction, then n K operations a step.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``
    priors : K numbers as ``classes_``, or 'em'
    training_priors : K numbers, the t_k that the posteriors were made with. None uses those of the fitted
        estimator (``priors_``, ``class_prior_``), or the weighted shares of y. To be given where
        neither is right: for class weights, or a frozen estimator that was fitted to other shares.

    Attributes
    ----------
    estimator_, classes_
    training_priors_, priors_ : t and q
    shift_ : after ``adapt``, a ``PriorShift``: priors, convergence, and the test whether there is a shift

    Examples
    --------
    >>> from discrim import LinearDiscriminantAnalysis, datasets
    >>> from discrim.decision import PriorShiftClassifier
    >>> X, y = datasets.load_iris().xy
    >>> model = PriorShiftClassifier(LinearDiscriminantAnalysis(), priors="em").fit(X, y)
    >>> model.adapt(X[30:]).priors_.round(3)  # 20, 50 and 50 of 120 rows
    array([0.167, 0.413, 0.421])
    """

    _constraints: ClassVar[Mapping[str, Check]] = {
        "priors": either(one_of("em"), array_like()),
        "training_priors": either(none(), array_like()),
    }

    training_priors_: Floats
    priors_: Floats
    learned: ClassVar[Fields] = {
        **Wrapper.learned, "training_priors_": SHARES, "priors_": SHARES,
        "shift_": Optional(Of(PriorShift, {"K": "K"})),
    }  # fmt: skip

    shift_: PriorShift

    def check_learned(self, file: Incoming) -> None:
        """Raise where a class occurs of which nothing is known."""
        super().check_learned(file)
        if self.__dict__["shift_"] is None:
            del self.shift_
        if ((self.priors_ > 0) & (self.training_priors_ == 0)).any() or not self.priors_.any():
            raise damaged("priors_", "does not go with the shares in training")

    def __init__(self, estimator: Any, priors: Any = "em", *, training_priors: Any = None) -> None:
        self.estimator = estimator
        self.priors = priors
        self.training_priors = training_priors

    @all_or_nothing
    def adapt(self, X: Any, sample_weight: Any = None) -> Self:
        """Estimate the shares of the classes among rows without labels, and decide by them from now on."""
        check_is_fitted(self, "estimator_")
        if not isinstance(self.priors, str):
            raise ParameterError("The priors are given, so there is nothing to adapt. Set priors='em'.")
        self.shift_ = estimate_shift(asked(self.estimator_, "predict_proba", X), self.training_priors_, sample_weight)
        self.priors_ = self.shift_.priors
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class under the new shares."""
        best = self._scores(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Posteriors under the new shares, n x K."""
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Their logarithms."""
        scores = self._scores(X)
        return np.asarray(scores - special.logsumexp(scores, axis=1, keepdims=True))

    def answering(self) -> Described:
        """How rows are answered, as a plain description."""
        check_is_fitted(self, "estimator_")
        inner = answering_of(self.estimator_)
        return "shifted priors", {"inner": inner, "training": self.training_priors_, "priors": self.priors_}

    def _scores(self, X: Any) -> Floats:
        """log p_k q_k / t_k."""
        check_is_fitted(self, "estimator_")
        with np.errstate(divide="ignore"):
            if hasattr(self.estimator_, "predict_log_proba"):
                logs = asked(self.estimator_, "predict_log_proba", X)
            else:
                logs = np.log(asked(self.estimator_, "predict_proba", X))
        possible = self.training_priors_ > 0
        shift = log_priors(self.priors_) - log_priors(np.where(possible, self.training_priors_, 1))
        scores = np.where(possible, logs + np.where(possible, shift, 0.0), -np.inf)
        # A row that is surely of a class which no longer occurs: nothing but the shares is left to go by.
        lost = np.isneginf(scores).all(axis=1)
        scores[lost] = log_priors(self.priors_)
        return np.asarray(scores, dtype=np.float64)

    def _decide(self, inner: Any, X: Any, y: Any, sample_weight: Any) -> None:
        self.__dict__.pop("shift_", None)
        self.training_priors_ = self._found_training_priors(inner, X, y, sample_weight)
        given = self.training_priors_ if isinstance(self.priors, str) else self.priors
        self.priors_ = resolve_priors(given, self.training_priors_)
        unseen = (self.priors_ > 0) & (self.training_priors_ == 0)
        if unseen.any():
            label = self.classes_[np.argmax(unseen)]
            raise DataError(f"Class '{label}' had the share zero in training: nothing is known of it.")

    def _found_training_priors(self, inner: Any, X: Any, y: Any, sample_weight: Any) -> Floats:
        size = len(self.classes_)
        if self.training_priors is not None:
            return resolve_priors(self.training_priors, np.ones(size))
        for name in ("priors_", "class_prior_"):
            known = getattr(inner, name, None)
            if known is not None and np.shape(known) == (size,):
                return np.asarray(known / np.sum(known), dtype=np.float64)
        classes, codes, weight = coded_labels(X, y, sample_weight)
        if not np.isin(classes, self.classes_).all():
            raise DataError("y has labels that the estimator does not know. Give training_priors instead.")
        weights = np.bincount(recode(classes, self.classes_)[codes], weight, size)
        return np.asarray(weights / weights.sum())


def estimate_shift(posterior: Any, training_priors: Any, sample_weight: Any = None) -> PriorShift:
    """The class shares q among rows whose posteriors p (n x K) were made for the shares t = ``training_priors``.

    Maximises sum_i log sum_k q_k p_ik / t_k by EM. With g_k = mean_i (p_ik / t_k) / (sum_j q_j p_ij / t_j) a step
    is q_k g_k, and no q' is better than q by more than max_k g_k - 1 in the mean.
    """
    p = _checked_posteriors(posterior)
    t = resolve_priors(training_priors, np.ones(p.shape[1]))
    weight = weights_of(sample_weight, len(p))
    share = weight / weight.sum()
    ratio = np.where(t > 0, p / np.where(t > 0, t, 1.0), 0.0)
    q, mixed, gap, steps = t, ratio @ t, np.inf, 0
    if not (mixed > 0).all():
        raise DataError("Some rows have no posterior for any class that has a share in training.")
    while steps < MOST_STEPS:
        steps += 1
        gain = (share / mixed) @ ratio
        gap = float(gain.max() - 1.0)
        if gap <= GAP:
            break
        q = q * gain
        q = q / q.sum()
        mixed = ratio @ q
    if gap > GAP:
        warn(
            f"The class shares did not settle in {MOST_STEPS} steps: the mean log likelihood can still rise by "
            f"{gap:.1g}. The classes overlap too much for their shares to be known well.",
            DiscrimWarning,
        )
    statistic = max(2.0 * float(weight @ np.log(mixed)), 0.0)
    df = max(int((t > 0).sum()) - 1, 0)
    p_value = float(special.chdtrc(df, statistic)) if df else 1.0
    return PriorShift(q, t, steps, gap <= GAP, max(gap, 0.0), statistic, df, p_value)


def _checked_posteriors(posterior: Any) -> Floats:
    p = np.asarray(posterior, dtype=np.float64)
    if p.ndim != 2 or not p.size:
        found = " x ".join(map(str, p.shape)) or "a single number"
        raise DataError(
            f"The posteriors must be a matrix, a row for each row and a column for each class; found {found}."
        )
    if not np.isfinite(p).all() or p.min() < 0 or np.abs(p.sum(axis=1) - 1.0).max() > 1e-3:
        raise DataError("The posteriors must be between 0 and 1 and sum to 1 in every row.")
    return p
