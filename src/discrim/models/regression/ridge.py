"""Ridge regression on class indicators."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import clone
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import type_of_target

from discrim.errors import DataError, ParameterError
from discrim.families.priors import log_priors
from discrim.families.recipe import Solved, Statistic
from discrim.families.regression.recipe import RidgeRecipe
from discrim.families.rule import Described, LinearRule, Output, side_by_side
from discrim.inference.summary import Summary, coefficient_summary
from discrim.models.beyond import METHODS, beyond_sklearn
from discrim.models.parameters import Check, array_like, boolean, either, integer, none, number, numbers, one_of, seed
from discrim.models.registry import Entry, cubic, enter
from discrim.models.scoring import also_of_parts
from discrim.models.shell import RecipeClassifier, check_parameters, recipe_from
from discrim.sources import check_structure

SOLVERS = ("auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs")


@dataclass(eq=False, repr=False)
class RidgeClassifier(RecipeClassifier):
    """Ridge regression on targets +1 for a class and -1 for the others.

    **Model.** E(2 1{class k} - 1 | x) = b_k0 + b_k'x, with b_k drawn towards zero.

    **Statistic.** Class weights n_k, means mu_k and the pooled centred scatter S, as for least squares.

    **Estimate.** b_k = (T + alpha I)^-1 2 n_k (mu_k - mu) with the total scatter T; the intercept is free.

    **Rule.** The largest regression function; for two classes the sign of the one.

    Cost: one read of X with n p^2 / 2 multiplications, then p^3 / 3; with more columns than rows n^2 p / 2 + n^3 / 6;
    with sparse rows some ten times 2 nnz K, by conjugate gradients. Then ``statistic_`` has the variances of the
    columns only, too little for ``partial_fit``, ``forget`` and ``merge``: for these fit with ``solver='cholesky'``.

    Parameters
    ----------
    alpha : float, or one a class: the strength of the penalty; 'cv' or 'loo' to choose it
        By the squared error of the targets on held-out folds, or on rows that are left out one at a time, which is a
        closed form. What is chosen is in ``alpha_``: fitting again with this number gives the same coefficients.
    fit_intercept : bool
    tol, max_iter : float, int or None
        Of conjugate gradients, which solve for sparse rows where that is cheaper: the part of the gradient that may be
        left, and how many iterations. All else is a closed form.
    copy_X, random_state : accepted and not needed
    class_weight : dict, 'balanced' or None
    solver : str, scikit-learn's names
        'cholesky' and 'svd' are always the closed form; with all others sparse rows may take conjugate gradients.
    positive : bool, coefficients must not be negative
    priors : array of K numbers, the shares that the classes are given; None for their own
    cv : number of folds or splitter, for alpha='cv'
    alphas : array, the values tried where alpha is chosen
        By default eight powers of ten about the mean sum of squares of the columns.
    methods : {'scikit-learn', 'all'}
        'all' adds ``predict_proba`` and ``predict_log_proba``, which scikit-learn's class lacks: with them, clients
        that prefer probabilities to ``decision_function`` would put their threshold on something else.

    Attributes
    ----------
    coef_, intercept_ : p numbers and one for two classes, else K x p and K
    alpha_ : what was used
    cv_results_ : where alpha was chosen, ``alphas`` and ``squared_error`` (alphas x folds; one column for 'loo')
    classes_, statistic_, solver_, n_iter_

    Examples
    --------
    >>> from discrim import RidgeClassifier, datasets
    >>> X, y = datasets.load_iris().xy
    >>> round(RidgeClassifier().fit(X, y).score(X, y), 3)
    0.853
    >>> RidgeClassifier(alpha="loo", alphas=[0.1, 1.0, 10.0]).fit(X, y).alpha_
    1.0
    """

    coef_: NDArray[Any] = field(init=False)
    intercept_: Any = field(init=False)
    alpha_: Any = field(init=False)

    # Of two classes the function of the second.
    margin_weights: ClassVar[tuple[float, float]] = (0.0, 1.0)
    _constraints: ClassVar[dict[str, Check]] = {
        "alpha": either(number(0), numbers(0), one_of("cv", "loo")),
        "alphas": either(none(), numbers(0)),
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

    alpha: Any = 1.0
    _: KW_ONLY
    fit_intercept: bool = True
    copy_X: bool = True  # noqa: N815 - scikit-learn's name
    max_iter: int | None = None
    tol: float = 1e-4
    class_weight: Any = None
    solver: str = "auto"
    positive: bool = False
    random_state: Any = None
    priors: Any = None
    cv: Any = 10
    alphas: Any = None
    methods: Literal["scikit-learn", "all"] = "scikit-learn"

    def recipe(self) -> RidgeRecipe:
        """The model that these parameters describe."""
        return recipe_from(RidgeRecipe, self)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, checkpoint: Any = None) -> Self:
        """Learn from rows X with labels y (n, or n x m of zeros and ones), or from a ``scan``.

        A fit of a scan of files that was killed goes on from its ``checkpoint``, the path of a file.
        """
        check_structure(y, "y")
        if isinstance(y, list) and y and np.ndim(y[0]) and type_of_target(y).startswith("multi"):
            y = np.asarray(y)
        if getattr(y, "ndim", 1) == 2 and y.shape[1] > 1:
            check_parameters(self, self._constraints)
            if type_of_target(y) != "multilabel-indicator":
                raise DataError("y has several columns that are not zeros and ones; give one column of labels.")
            return self._fit_labels(X, np.asarray(y.toarray() if hasattr(y, "toarray") else y), sample_weight)
        return super().fit(X, y, sample_weight, checkpoint=checkpoint)

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        self._check_one_label()
        return super().partial_fit(X, y, classes, sample_weight)

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        self._check_one_label()
        return super().forget(X, y, sample_weight)

    def mergeable_statistic(self) -> Statistic:
        if self._several_labels:
            raise DataError("Models of several labels cannot be merged. Fit and merge one model for each label.")
        statistic: Any = super().mergeable_statistic()
        return self.recipe().adopt(statistic)

    @also_of_parts
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Regression functions n x K; for two classes (n,), positive for the second."""
        return self._apply(X, Output.SCORES) if self._several_labels else super().decision_function(X)

    @also_of_parts
    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest regression function; with several labels, a column of 0 or 1 each."""
        if self._several_labels:
            return (self.decision_function(X) > 0).astype(int)
        return super().predict(X)

    @beyond_sklearn
    @also_of_parts
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Squashed regression functions, n x K; with several labels, the share of each, n x m."""
        return self._posteriors(X)

    @beyond_sklearn
    @also_of_parts
    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Logarithms of ``predict_proba``."""
        return log_priors(self._posteriors(X)) if self._several_labels else super().predict_log_proba(X)

    def answering(self) -> Described:
        if self._several_labels:
            raise DataError("A model of several labels cannot be exported. Fit and export one for each label.")
        return super().answering()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _posteriors(self, X: Any) -> NDArray[Any]:
        if not self._several_labels:
            return super().predict_proba(X)
        # A label that all rows share, or none, is certain.
        shares = expit(2.0 * self._apply(X, Output.SCORES))
        return np.where(np.isnan(self._certain), shares, self._certain).astype(shares.dtype)

    @property
    def _several_labels(self) -> bool:
        """Was the model fitted to indicators of several labels, of which a row may have any number?"""
        return "_certain" in self.__dict__

    def _check_one_label(self) -> None:
        if self._several_labels:
            raise DataError(
                "With several labels only fit is available: parts and forgetting need a model for each label."
            )

    def _fit_labels(self, X: Any, y: NDArray[Any], sample_weight: Any) -> Self:
        """One two-class problem a column of y."""
        if self.class_weight is not None:
            weight = compute_sample_weight(self.class_weight, y)
            sample_weight = weight if sample_weight is None else weight * np.asarray(sample_weight)
        alphas = [self.alpha] if isinstance(self.alpha, str) else np.atleast_1d(self.alpha).astype(float)
        if len(alphas) not in (1, y.shape[1]):
            raise ParameterError.bad_value("alpha", self.alpha, f"one number or {y.shape[1]} numbers, one a label")
        parts = [
            clone(self).set_params(alpha=alpha, class_weight=None).fit(X, column, sample_weight)
            for alpha, column in zip(np.resize(alphas, y.shape[1]).tolist(), y.T, strict=True)
        ]
        rule, first = side_by_side([_function(part) for part in parts]), parts[0]
        attributes = {
            "classes_": np.arange(y.shape[1]),
            "coef_": rule.coef.astype(first.columns_.dtype),
            "intercept_": np.concatenate([_sign(part) * np.atleast_1d(part.intercept_) for part in parts]),
            "alpha_": self.alpha if not isinstance(self.alpha, str) else np.array([part.alpha_ for part in parts]),
            "solver_": first.solver_,
            "n_iter_": first.n_iter_,
            "_certain": np.array([np.nan if len(part.classes_) == 2 else float(_sign(part) > 0) for part in parts]),
        }
        return self.from_solution(Solved(rule, first.statistic_, attributes), first.known_columns)

    def _draw(self, X: Any, y: Any, **options: Any) -> Any:  # noqa: ARG002 - as of every model
        from discrim import plots

        return plots.coefficients(self, X, **options)

    def _summarise(self) -> Summary:
        slopes = np.atleast_2d(self.coef_)
        coef = np.vstack([np.broadcast_to(self.intercept_, len(slopes)), slopes.T])
        facts = {"Rows": int(self.statistic_.rows.sum()), "Columns": len(self._names), "alpha": str(self.alpha_)}
        return coefficient_summary("Ridge regression on class indicators", facts, self._names, self.classes_, coef)


def _sign(label: RidgeClassifier) -> float:
    """-1 for a label that no row has: its only class, which the model scores, is its absence."""
    return -1.0 if len(label.classes_) == 1 and not label.classes_[0] else 1.0


def _function(label: RidgeClassifier) -> LinearRule:
    """What speaks for a label."""
    rule, sign = label.solution().rule, _sign(label)
    assert isinstance(rule, LinearRule)
    return LinearRule(sign * rule.coef[-1:], sign * rule.offset[-1:], rule.origin)


enter(Entry("Ridge", RidgeClassifier, {"methods": "all"}, cost=9, tuning="grid", work=cubic(5e-10, 8e-10)))
