"""The passive-aggressive classifier."""

from __future__ import annotations

from typing import Any, ClassVar

from discrim.engines.orders import Shuffle
from discrim.families.online.learning import Learning
from discrim.families.online.scaling import Scaling
from discrim.models.online.parameters import SHARED, above
from discrim.models.online.stream import StreamClassifier
from discrim.models.parameters import Check, one_of


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

    def __init__(
        self,
        *,
        C: float = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        shuffle: Shuffle = True,
        verbose: int = 0,
        loss: str = "hinge",
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        class_weight: Any = None,
        average: bool | int = False,
    ) -> None:
        self.C = C
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.loss = loss
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.average = average

    def _learning(self, scaling: Scaling | None) -> Learning:  # noqa: ARG002 - columns are as they come
        return Learning(
            rate="pa1" if self.loss == "hinge" else "pa2",
            penalty=None,
            alpha=1.0,
            eta0=float(self.C),
            intercept_step=float(self.fit_intercept),
            average=float(self.average),
        )
