"""What ``logistic_path`` gives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DataError, ParameterError
from discrim.families.logistic.path_problem import PathProblem, Steps
from discrim.inference.summary import Summary, Table
from discrim.models.logistic.path_cv import linear_predictors
from discrim.sources import Design, open_rows
from discrim.typing import Floats

if TYPE_CHECKING:
    import pandas as pd


# Lambdas that a printed path shows.
SHOWN = 12


@dataclass(frozen=True, eq=False, repr=False)
class LogisticPath:
    """Coefficients for every lambda, and how well each explains the rows.

    Attributes
    ----------
    lambdas : L penalties, from the largest down
    coef : L x p slopes of the second class, or L x K x p, for the columns as they came
    intercept : L, or L x K (these sum to zero)
    dev_ratio : L shares of the null deviance that are explained
    df : L numbers of columns with a slope
    null_deviance : float, of the model with intercepts (and offset) alone
    classes_ : the labels
    n_passes : how often all rows, or all columns, were read
    solver_ : 'coordinate-gram' or 'coordinate-columns'
    converged : L flags; False where no step lowered the value any more before the minimum was reached
    cv_mean, cv_se : L means of the deviance of left-out rows, and their standard errors; None without ``cv``
    lambda_min_, lambda_1se_ : the lambda of the least mean, and the largest whose mean is within one error of it
    """

    lambdas: Floats
    coef: Floats
    intercept: Floats
    dev_ratio: Floats
    df: NDArray[np.int64]
    null_deviance: float
    classes_: NDArray[Any]
    n_passes: int
    solver_: str
    design: Design
    converged: NDArray[np.bool_]
    cv_mean: Floats | None = None
    cv_se: Floats | None = None
    folds: NDArray[np.int32] | None = None

    @classmethod
    def of(cls, problem: PathProblem, steps: Steps, design: Design) -> Self:
        used = steps.coef != 0
        return cls(
            lambdas=steps.lambdas,
            coef=steps.coef,
            intercept=steps.intercept,
            dev_ratio=1.0 - steps.loss / steps.null_loss,
            df=(used.any(axis=1) if steps.coef.ndim == 3 else used).sum(axis=1),
            null_deviance=2.0 * steps.null_loss,
            classes_=problem.classes,
            n_passes=steps.passes,
            solver_=steps.solver,
            design=design,
            converged=steps.converged,
        )

    def with_errors(self, mean: Floats, error: Floats, folds: NDArray[np.int32]) -> Self:
        """The same path with what cross-validation found."""
        return replace(self, cv_mean=mean, cv_se=error, folds=folds)

    @property
    def lambda_min_(self) -> float:
        mean, _ = self._errors()
        # Of equal means the larger lambda: the smaller model.
        return float(self.lambdas[int(np.argmin(mean))])

    @property
    def lambda_1se_(self) -> float:
        mean, error = self._errors()
        best = int(np.argmin(mean))
        return float(self.lambdas[int(np.argmax(mean <= mean[best] + error[best]))])

    def predict_proba(self, X: Any, at: Any) -> Floats:
        """Probabilities n x K at one lambda: an index (int), one of the ``lambdas`` (float), 'min' or '1se'."""
        i = self._index(at)
        rows = open_rows(X, design=self.design)
        coef, intercept = self.coef[i : i + 1], self.intercept[i : i + 1]
        eta = np.concatenate([linear_predictors(coef, intercept, block)[:, 0] for block in rows.blocks()])
        if not np.isfinite(eta).all():
            raise DataError("Input X contains NaN or infinity, or numbers too large for these coefficients.")
        if eta.ndim == 1:
            eta = np.stack([np.zeros_like(eta), eta], axis=1)
        weight = np.exp(eta - eta.max(axis=1, keepdims=True))
        return np.asarray(weight / weight.sum(axis=1, keepdims=True))

    def predict(self, X: Any, at: Any) -> NDArray[Any]:
        """The most probable class at one lambda."""
        return np.asarray(self.classes_[self.predict_proba(X, at).argmax(axis=1)])

    def to_frame(self) -> pd.DataFrame:
        """One row a lambda: lambda, df, dev_ratio, and the errors where there are any."""
        return self._table(np.arange(len(self.lambdas))).to_frame()

    def __repr__(self) -> str:
        return str(self._summary())

    def _repr_html_(self) -> str:
        return self._summary()._repr_html_()

    def _summary(self) -> Summary:
        count = len(self.lambdas)
        shown = np.unique(np.linspace(0, count - 1, min(SHOWN, count)).round().astype(int))
        facts: dict[str, object] = {
            "Lambdas": count,
            "Columns": self.coef.shape[-1],
            "Classes": len(self.classes_),
            "Null deviance": self.null_deviance,
            "Solver": f"{self.solver_}, {self.n_passes} passes",
        }
        if self.cv_mean is not None:
            facts |= {"lambda_min": self.lambda_min_, "lambda_1se": self.lambda_1se_}
        return Summary("Path of penalised logistic regression", facts, [self._table(shown)])

    def _table(self, places: NDArray[np.intp]) -> Table:
        columns = {"lambda": self.lambdas, "df": self.df, "dev_ratio": self.dev_ratio}
        if self.cv_mean is not None and self.cv_se is not None:
            columns |= {"cv_mean": self.cv_mean, "cv_se": self.cv_se}
        values = np.column_stack([np.asarray(column, float)[places] for column in columns.values()])
        return Table("Path", [str(i) for i in places], list(columns), values)

    def _errors(self) -> tuple[Floats, Floats]:
        if self.cv_mean is None or self.cv_se is None:
            raise ParameterError("This path was not cross-validated; give `cv` to logistic_path to choose a lambda.")
        return self.cv_mean, self.cv_se

    def _index(self, at: Any) -> int:
        if isinstance(at, str) and at in ("min", "1se"):
            at = self.lambda_min_ if at == "min" else self.lambda_1se_
        if isinstance(at, (int, np.integer)) and -len(self.lambdas) <= at < len(self.lambdas):
            return int(at) % len(self.lambdas)
        if isinstance(at, (float, np.floating)):
            nearest = int(np.argmin(np.abs(self.lambdas - at)))
            if np.isclose(self.lambdas[nearest], at, rtol=1e-9, atol=0.0):
                return nearest
        expected = f"an index below {len(self.lambdas)}, one of the path's lambdas, 'min' or '1se'"
        raise ParameterError.bad_value("at", at, expected)
