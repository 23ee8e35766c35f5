"""Classification by least squares on class indicators."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discrim.families.regression.quadratic_basis import QuadraticBasisRecipe, expanded_names
from discrim.families.regression.recipe import LeastSquaresDetails, LeastSquaresRecipe
from discrim.inference.discriminant import coefficient_table
from discrim.inference.summary import Summary, Table
from discrim.models.parameters import Check, array_like, either, none, number, one_of
from discrim.models.scoring import also_of_parts
from discrim.models.shell import RecipeClassifier
from discrim.typing import Floats


@dataclass(eq=False, repr=False, kw_only=True)
class LeastSquaresClassifier(RecipeClassifier):
    """Linear regression of each class's indicator on the columns.

    **Model.** E(1{class k} | x) = b_k0 + b_k'x.

    **Statistic.** Class weights n_k, means mu_k and the pooled centred scatter S: the total scatter is
    T = S + sum_k n_k (mu_k - mu)(mu_k - mu)', and X'Y has the columns n_k (mu_k - mu).

    **Estimate.** b_k = T^-1 n_k (mu_k - mu), b_k0 = n_k / n - b_k'mu. For two classes b has the direction of
    linear discriminant analysis. With three or more a class between two others can be masked: its function is
    nowhere the largest. Quadratic terms (``basis="quadratic"``) cure that for three classes.

    **Rule.** The largest regression function.

    Cost: one read of X with n p^2 / 2 multiplications, then p^3 / 3; with more columns than rows n^2 p.

    Parameters
    ----------
    basis : None or 'quadratic', to add all squares and products of the columns
    priors : array of K numbers, the shares that the classes are given; None for their own
    tol : float, see LinearDiscriminantAnalysis
    normalization : {'unbiased', 'mle'}, divisor of the residual variance in the summary

    Attributes
    ----------
    coef_, intercept_ : K x p and K, the regression functions
    classes_, statistic_

    Examples
    --------
    >>> from discrim import LeastSquaresClassifier, datasets
    >>> X, y = datasets.load_iris().xy
    >>> round(LeastSquaresClassifier().fit(X, y).score(X, y), 3)
    0.847
    """

    coef_: NDArray[Any] = field(init=False)
    intercept_: NDArray[Any] = field(init=False)

    # Scores are twice the regression functions.
    margin_weights: ClassVar[tuple[float, float]] = (-0.5, 0.5)
    _constraints: ClassVar[dict[str, Check]] = {
        "basis": one_of(None, "quadratic"),
        "priors": either(none(), array_like()),
        "tol": number(0),
        "normalization": one_of("mle", "unbiased"),
    }

    basis: str | None = None
    priors: Any = None
    tol: float = 1e-4
    normalization: str = "unbiased"

    def recipe(self) -> LeastSquaresRecipe:
        """The model that these parameters describe."""
        kind = LeastSquaresRecipe if self.basis is None else QuadraticBasisRecipe
        return kind(priors=self.priors, tol=self.tol)

    @also_of_parts
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Regression functions n x K; for two classes, the second minus the first, n."""
        scores = super().decision_function(X)
        if len(self.classes_) != 2:
            scores *= 0.5
        return scores

    @property
    def _names(self) -> list[str]:
        return super()._names if self.basis is None else expanded_names(super()._names)

    def _draw(self, X: Any, y: Any, **options: Any) -> Any:  # noqa: ARG002 - as of every model
        from discrim import plots

        return plots.coefficients(self, X, **options)

    def _summarise(self) -> Summary:
        details: LeastSquaresDetails = self._details
        errors, df = _standard_errors(details, self.normalization)
        coef = np.column_stack([details.functions.intercept, details.functions.coef]).T
        statistic, p_value = coefficient_table(coef, errors, df)
        names, labels = ["(Intercept)", *self._names], [str(label) for label in self.classes_]
        columns = ["Estimate", "Std. Error", "t value", "Pr(>|t|)"]
        tables = [
            Table(f"Coefficients of the indicator of {label}", names, columns,
                  np.column_stack([coef[:, k], errors[:, k], statistic[:, k], p_value[:, k]]),
                  p_columns=("Pr(>|t|)",))
            for k, label in enumerate(labels)
        ]  # fmt: skip
        facts = {"Rows": int(self.statistic_.rows.sum()), "Columns": len(self._names), "Classes": len(labels),
                 "Residual degrees of freedom": df}  # fmt: skip
        return Summary(
            "Least squares on class indicators", facts, tables, names=names, coef=coef, std_error=errors,
            statistic=statistic, p_value=p_value, df_residual=df,
        )  # fmt: skip


def _standard_errors(details: LeastSquaresDetails, normalization: str) -> tuple[Floats, float]:
    """Classical standard errors (p + 1) x K, and the residual degrees of freedom."""
    problem, sphering, functions = details
    n = problem.weight
    df = n - sphering.rank - 1
    explained = np.einsum("kp,pk->k", functions.coef, problem.cross)
    residual = n * np.maximum(problem.level * (1.0 - problem.level) - explained, 0.0)
    variance = residual / (df if normalization == "unbiased" else n) if df > 0 else np.full_like(residual, np.nan)
    root = sphering.backward(np.eye(sphering.rank))
    diagonal = np.einsum("ij,ij->i", root, root) / n
    at_origin = sphering.forward(problem.origin[:, None])
    leverage = np.concatenate([[(1.0 + float((at_origin**2).sum())) / n], diagonal])
    return np.sqrt(np.outer(leverage, variance)), float(df)
