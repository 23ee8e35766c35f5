"""Classification by least squares with an L1 penalty."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discrim.families.regression.lasso import LassoPath, LassoRecipe
from discrim.inference.summary import Summary, coefficient_summary
from discrim.models.parameters import Check, array_like, boolean, either, none, number, one_of
from discrim.models.registry import Entry, Facts, Size, Work, cubic, dense_numbers, enter
from discrim.models.scoring import also_of_parts
from discrim.models.shell import RecipeClassifier, recipe_from
from discrim.models.stored import kept_matrix


@dataclass(eq=False, repr=False)
class LassoClassifier(RecipeClassifier):
    """Least squares on targets +1 for a class and -1 for the others, with an L1 penalty that leaves columns out.

    **Model.** E(2 1{class k} - 1 | x) = b_k0 + b_k'x, with many entries of b_k zero.

    **Statistic.** Class weights n_k, means mu_k and the pooled centred scatter S, as for least squares: they hold X'X
    and X'y, and the penalty is applied when they are read.

    **Estimate.** argmin |y - b_0 - X b|^2 / (2 n) + alpha |b|_1 for each target y, scikit-learn's scaling of the
    penalty, by coordinate descent on X'X / n.

    **Rule.** The largest regression function; for two classes the sign of the one.

    Cost: one read of X with n p^2 / 2 multiplications, then p for each change of a coefficient, whatever n is. The
    whole path and cross-validation start from the same statistics.

    Parameters
    ----------
    alpha : float, the strength of the penalty, or 'cv' to choose it by the squared error on held-out folds
    fit_intercept : bool
    cv : number of folds or splitter, for alpha='cv'
    priors : array of K numbers, the shares that the classes are given; None for their own

    Attributes
    ----------
    coef_, intercept_ : 1 x p and 1 for two classes, else K x p and K
    alpha_ : the strength that was used
    path_ : LassoPath over a hundred strengths, made when it is first asked for
    cv_results_ : for alpha='cv', ``alphas`` and ``squared_error`` (alphas x folds)
    classes_, statistic_

    Examples
    --------
    >>> from discrim import LassoClassifier, datasets
    >>> X, y = datasets.load_iris().xy
    >>> model = LassoClassifier(alpha=0.1).fit(X, y)
    >>> (model.coef_ == 0).sum(axis=1)
    array([3, 2, 3])
    """

    _constraints: ClassVar[dict[str, Check]] = {
        "alpha": either(number(0), one_of("cv")),
        "fit_intercept": boolean(),
        "priors": either(none(), array_like()),
    }

    coef_: NDArray[Any] = field(init=False)
    intercept_: NDArray[Any] = field(init=False)
    alpha_: float = field(init=False)
    cv_results_: dict[str, Any] = field(init=False)
    # Of two classes the function of the second.
    margin_weights: ClassVar[tuple[float, float]] = (0.0, 1.0)

    alpha: float | str = 0.01
    _: KW_ONLY
    fit_intercept: bool = True
    cv: Any = 10
    priors: Any = None

    def recipe(self) -> LassoRecipe:
        """The model that these parameters describe."""
        return recipe_from(LassoRecipe, self)

    @also_of_parts
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Regression functions n x K; for two classes (n,), positive for the second."""
        return super().decision_function(X)

    @kept_matrix
    def path_(self) -> LassoPath:
        path: LassoPath = self._details.path
        return path

    def _draw(self, X: Any, y: Any, **options: Any) -> Any:  # noqa: ARG002 - as of every model
        from discrim import plots

        return plots.coefficients(self, X, **options)

    def _summarise(self) -> Summary:
        coef = np.vstack([self.intercept_, self.coef_.T])
        used = int((self.coef_ != 0).any(axis=0).sum())
        facts = {"Rows": int(self.statistic_.rows.sum()), "Columns": len(self._names), "Columns used": used,
                 "alpha": f"{self.alpha_:.4g}"}  # fmt: skip
        return coefficient_summary("Lasso on class indicators", facts, self._names, self.classes_, coef)


# Columns up to which the coordinate descent of every fold is a matter of seconds.
MOST_COLUMNS = 1000


def _too_wide(rows: Facts) -> str:
    if rows.dense and rows.width > MOST_COLUMNS:
        return f"more than {MOST_COLUMNS:,} columns make its path long; logistic_path is for these"
    return dense_numbers(rows)


def _work(size: Size) -> Work:
    one, path = cubic(5e-10)(size), 1e-3 + 6e-8 * size.classes * size.width**2
    return Work(one.fit + path / 5, one.fit + path)


enter(Entry("Lasso", LassoClassifier, cost=12, tuning="grid", why_not=_too_wide, work=_work))
