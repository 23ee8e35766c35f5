"""The perceptron."""

from __future__ import annotations

from typing import Any, ClassVar

from discrim.engines.orders import Shuffle
from discrim.errors import ParameterError
from discrim.families.online.learning import Learning
from discrim.families.online.scaling import Scaling
from discrim.models.online.parameters import SHARED, above
from discrim.models.online.stream import StreamClassifier
from discrim.models.parameters import Check, either, none, number, one_of


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
        "penalty": one_of("l2", "l1", "elasticnet", None),
        "alpha": number(0),
        "l1_ratio": either(number(0, 1), none()),
        **SHARED,
        "eta0": above(0),
        "multi_class": one_of("ovr", "multinomial"),
    }

    def __init__(
        self,
        *,
        penalty: str | None = None,
        alpha: float = 0.0001,
        l1_ratio: float | None = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: Shuffle = True,
        verbose: int = 0,
        eta0: float = 1.0,
        n_jobs: int | None = None,
        random_state: Any = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        warm_start: bool = False,
        multi_class: str = "ovr",
        average: bool | int = False,
    ) -> None:
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.multi_class = multi_class
        self.average = average

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
        if self.penalty == "elasticnet" and self.l1_ratio is None:
            raise ParameterError("l1_ratio must be set when penalty is 'elasticnet'.")

    def _learning(self, scaling: Scaling | None) -> Learning:  # noqa: ARG002 - columns are as they come
        return Learning(
            update="best_class" if self.multi_class == "multinomial" else "gradient",
            loss="perceptron",
            rate="constant",
            penalty=self.penalty,
            alpha=float(self.alpha),
            l1_ratio=float(self.l1_ratio or 0.0),
            eta0=float(self.eta0),
            intercept_step=float(self.fit_intercept),
            average=float(self.average),
        )

    @property
    def _together(self) -> bool:  # type: ignore[override]
        return self.multi_class == "multinomial"
