"""Ridge regression on class indicators."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.class_weight import compute_class_weight, compute_sample_weight
from sklearn.utils.multiclass import type_of_target

from discrim.atomic import all_or_nothing
from discrim.errors import DataError, ParameterError
from discrim.families.priors import log_priors
from discrim.families.rule import LinearRule, Output
from discrim.inference.summary import Summary, Table
from discrim.models.base import Statistic
from discrim.models.beyond import METHODS, beyond_sklearn
from discrim.models.indicator_base import IndicatorClassifier
from discrim.models.parameters import (
    Check,
    array_like,
    boolean,
    check_parameters,
    either,
    integer,
    none,
    number,
    numbers,
    one_of,
    seed,
)
from discrim.models.registry import Entry, enter
from discrim.solvers.regression import Regression, indicator_regression, positive_ridge, ridge
from discrim.sources import Rows, check_structure
from discrim.statistics import Depth
from discrim.typing import Floats

SOLVERS = ("auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs")


class RidgeClassifier(IndicatorClassifier):
    """Ridge regression on targets +1 for a class and -1 for the others.

    **Model.** E(2 1{class k} - 1 | x) = b_k0 + b_k'x, with b_k drawn towards zero.

    **Statistic.** Class weights n_k, means mu_k and the pooled centred scatter S, as for least squares.

    **Estimate.** b_k = (T + alpha I)^-1 2 n_k (mu_k - mu) with the total scatter T; the intercept is free.

    **Rule.** The largest regression function; for two classes the sign of the one.

    Cost: one read of X with n p^2 / 2 multiplications, then p^3 / 3; with more columns than rows n^2 p.

    Parameters
    ----------
    alpha : float, or one a class: the strength of the penalty
    fit_intercept : bool
    copy_X, max_iter, tol, random_state : accepted and not needed, since the solution is a closed form
    class_weight : dict, 'balanced' or None
    solver : str, scikit-learn's names; all take the same path here
    positive : bool, coefficients must not be negative
    priors : array of K numbers, the shares that the classes are given; None for their own
    methods : {'scikit-learn', 'all'}
        'all' adds ``predict_proba`` and ``predict_log_proba``, which scikit-learn's class lacks: with them, clients
        that prefer probabilities to ``decision_function`` would put their threshold on something else.

    Attributes
    ----------
    coef_, intercept_ : p numbers and one for two classes, else K x p and K
    classes_, statistic_, solver_, n_iter_

    Examples
    --------
    >>> from discrim import RidgeClassifier, datasets
    >>> X, y = datasets.load_iris().xy
    >>> round(RidgeClassifier().fit(X, y).score(X, y), 3)
    0.853
    """

    intercept_: Any

    _constraints: ClassVar[dict[str, Check]] = {
        "alpha": either(number(0), numbers(0)),
        "fit_intercept": boolean(),
        "copy_X": boolean(),
        "max_iter": either(none(), integer(1)),
        "tol": number(0),
        "class_weight": either(one_of(None, "balanced"), (lambda value: isinstance(value, dict), "a dict")),
        "solver": one_of(*SOLVERS),
        "positive": boolean(),
        "random_state": seed(),
        "priors": either(none(), array_like()),
        "methods": METHODS,
    }

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-4,
        class_weight: Any = None,
        solver: str = "auto",
        positive: bool = False,
        random_state: Any = None,
        priors: Any = None,
        methods: Literal["scikit-learn", "all"] = "scikit-learn",
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.priors = priors
        self.methods = methods

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows X with labels y (n, or n x m of zeros and ones), or from a ``scan``."""
        self.__dict__.pop("_labels", None)
        check_structure(y, "y")
        if isinstance(y, list) and type_of_target(y).startswith("multi"):
            y = np.asarray(y)
        if getattr(y, "ndim", 1) == 2 and y.shape[1] > 1:
            check_parameters(self, self._constraints)
            if type_of_target(y) != "multilabel-indicator":
                raise DataError("y has several columns that are not zeros and ones; give one column of labels.")
            return self._fit_labels(X, np.asarray(y.toarray() if hasattr(y, "toarray") else y), sample_weight)
        return super().fit(X, y, sample_weight)

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Regression functions n x K; for two classes (n,), positive for the second."""
        if hasattr(self, "_labels"):
            return np.column_stack([_sign(part) * part.decision_function(X) for part in self._labels])
        scores = self._apply(X, Output.SCORES)
        return scores[:, 1] if len(self.classes_) == 2 else scores[:, 0] if len(self.classes_) == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest regression function; with several labels, a column of 0 or 1 each."""
        if hasattr(self, "_labels"):
            return (self.decision_function(X) > 0).astype(int)
        return super().predict(X)

    @beyond_sklearn
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Squashed regression functions, n x K; with several labels, the share of each, n x m."""
        return self._posteriors(X)

    @beyond_sklearn
    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Logarithms of ``predict_proba``."""
        if hasattr(self, "_labels"):
            return log_priors(self._posteriors(X))
        return super().predict_log_proba(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _posteriors(self, X: Any) -> NDArray[Any]:
        if hasattr(self, "_labels"):
            # A label that all rows share, or none, is certain.
            return np.column_stack([part._posteriors(X)[:, -1] * (_sign(part) > 0) for part in self._labels])
        return super().predict_proba(X)

    def _fit_labels(self, X: Any, y: NDArray[Any], sample_weight: Any) -> Self:
        """One two-class problem a column of y."""
        if self.class_weight is not None:
            weight = compute_sample_weight(self.class_weight, y)
            sample_weight = weight if sample_weight is None else weight * np.asarray(sample_weight)
        alphas = np.atleast_1d(self.alpha)
        if len(alphas) not in (1, y.shape[1]):
            raise ParameterError.bad_value("alpha", self.alpha, f"one number or {y.shape[1]} numbers, one a label")
        parts = [
            clone(self).set_params(alpha=float(alpha), class_weight=None).fit(X, column, sample_weight)
            for alpha, column in zip(np.broadcast_to(alphas, y.shape[1]), y.T, strict=True)
        ]
        self._labels, first = parts, parts[0]
        self.n_features_in_, self._design = first.n_features_in_, first._design
        if hasattr(first, "feature_names_in_"):
            self.feature_names_in_ = first.feature_names_in_
        self.statistic_, self._unsolved, self.classes_ = first.statistic_, None, np.arange(y.shape[1])
        self.coef_ = np.vstack([_sign(part) * part.coef_ for part in parts])
        self.intercept_ = np.concatenate([_sign(part) * np.atleast_1d(part.intercept_) for part in parts])
        self.solver_, self.n_iter_ = first.solver_, first.n_iter_
        return self

    def _learn(self, statistic: Statistic, rows: Rows | None) -> None:
        if hasattr(self, "_labels"):
            raise DataError("With several labels only fit is there: parts and forgetting need a model for each label.")
        super()._learn(statistic, rows)

    def _depth(self, classes: int | None = None) -> Depth:  # noqa: ARG002 - the same for any number
        return Depth.POOLED if self.priors is None and self.class_weight is None else Depth.FULL

    def _solve(self, statistic: Statistic, rows: Rows | None, *, reread: bool) -> LinearRule:  # noqa: ARG002
        if self.solver == "lbfgs" and not self.positive:
            raise ParameterError("'lbfgs' solver can be used only when positive=True. Use another solver.")
        problem = indicator_regression(
            self._with_class_weight(self._with_priors(statistic)), self._eps, centred=self.fit_intercept
        )
        coef = self._coefficients(problem, reread=reread)
        level = 2.0 * problem.level - 1.0 if self.fit_intercept else np.zeros(len(statistic.classes))
        rule = LinearRule(np.ascontiguousarray(coef.T), level, problem.origin)
        dtype = self._design.dtype
        two = len(statistic.classes) == 2
        self.coef_ = (rule.coef[1] if two else rule.coef).astype(dtype)
        intercept = rule.intercept[1:] if two else rule.intercept
        self.intercept_ = intercept.astype(dtype) if self.fit_intercept else 0.0
        self.solver_, self.n_iter_ = "lbfgs" if self.positive else "cholesky", 1
        self._indicator_scale = 0.5
        return rule

    def _coefficients(self, problem: Regression, *, reread: bool) -> Floats:
        """Columns of coefficients; the targets are 2 Y - 1, so that X'Y counts twice once X is centred."""
        cross = 2.0 * problem.cross
        if not self.fit_intercept:
            cross = cross - problem.cross.sum(axis=1, keepdims=True)
        doubled = Regression(problem.spread, cross, problem.level, problem.origin, problem.weight)
        alphas = self._alphas(cross.shape[1])
        if self.positive:
            return self._positive(doubled, alphas)
        if (alphas == alphas[0]).all():
            return ridge(doubled, float(alphas[0]), reread=reread)
        return np.column_stack([ridge(doubled, float(a), reread=reread)[:, k] for k, a in enumerate(alphas)])

    def _positive(self, problem: Regression, alphas: Floats) -> Floats:
        columns = [positive_ridge(problem, problem.cross[:, k], float(a)) for k, a in enumerate(alphas)]
        if len(columns) == 2:
            columns[0] = -columns[1]
        return np.column_stack(columns)

    def _alphas(self, classes: int) -> Floats:
        alphas = np.atleast_1d(np.asarray(self.alpha, dtype=np.float64))
        targets = 1 if classes == 2 else classes
        if len(alphas) not in (1, targets) or (alphas < 0).any():
            raise ParameterError.bad_value("alpha", self.alpha, f"one number or {targets} numbers, none negative")
        return np.full(classes, alphas[0]) if len(alphas) == 1 else alphas

    def _with_class_weight(self, statistic: Statistic) -> Statistic:
        if self.class_weight is None:
            return statistic
        if self.class_weight == "balanced":
            present = statistic.weight > 0
            factors = statistic.total_weight / (present.sum() * np.where(present, statistic.weight, 1.0))
        else:
            factors = compute_class_weight(self.class_weight, classes=statistic.classes, y=statistic.classes)
        return statistic.reweighted(np.asarray(factors, dtype=np.float64))

    def _summarise(self) -> Summary:
        names = ["(Intercept)", *self._names]
        slopes = np.atleast_2d(self.coef_)
        coef = np.vstack([np.broadcast_to(self.intercept_, len(slopes)), slopes.T])
        labels = [str(label) for label in self.classes_[-len(slopes) :]]
        facts = {"Rows": int(self.statistic_.rows.sum()), "Columns": len(self._names), "alpha": str(self.alpha)}
        table = Table("Coefficients", names, labels, coef)
        return Summary("Ridge regression on class indicators", facts, [table], names=names, coef=coef)


def _sign(label: RidgeClassifier) -> float:
    """-1 for a label that no row has: its only class, which the model scores, is its absence."""
    return -1.0 if len(label.classes_) == 1 and not label.classes_[0] else 1.0


enter(Entry("Ridge", RidgeClassifier, lambda _: RidgeClassifier(methods="all"), cost=9, tuning="ridge"))
