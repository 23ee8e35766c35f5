"""Adaptive regularisation of weights."""

from __future__ import annotations

from typing import Any, ClassVar

from discrim.engines.orders import Shuffle
from discrim.families.online.learning import Learning
from discrim.families.online.scaling import Scaling
from discrim.models.online.parameters import SHARED, above
from discrim.models.online.stream import StreamClassifier
from discrim.models.parameters import Check


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

    _constraints: ClassVar[dict[str, Check]] = {"r": above(0), **{k: v for k, v in SHARED.items() if k != "average"}}

    def __init__(
        self,
        r: float = 1.0,
        *,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: Shuffle = True,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: Any = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.r = r
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start

    @property
    def variance_(self) -> Any:
        """Variances of the weights, 1 before a column was seen."""
        if "_state" not in self.__dict__:
            raise AttributeError("This AROWClassifier has no variances yet: call fit first.")
        columns = self.coef_.shape[1]  # writes out what single rows have changed
        assert self._state.second is not None
        return self._state.second[:, :columns].copy()

    def _learning(self, scaling: Scaling | None) -> Learning:  # noqa: ARG002 - columns are as they come
        return Learning(
            update="confidence",
            rate="constant",
            penalty=None,
            eta0=float(self.r),
            intercept_step=float(self.fit_intercept),
        )
