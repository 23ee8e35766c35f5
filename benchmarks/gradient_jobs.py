"""Rows for the lasso on indicators and for gradient descent.

scikit-learn has no lasso that classifies: its Lasso gets the targets +-1, made outside the clock. Gradient descent is
there to be watched; the row says what it costs against a solver that wants nothing but the minimum.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import Lasso, LassoCV, LogisticRegression
from sklearn.model_selection import StratifiedKFold

from benchmarks.job import Contestant, Data, Job, Turn, gaussian_classes, ours
from benchmarks.logistic_data import logistic_rows, ridge_objective

TOLS = tuple(10.0**-k for k in range(2, 13))
ALPHA = 0.02


def gradient_jobs() -> list[Job]:
    tall, wide = gaussian_classes(1_000_000, 20, 2), gaussian_classes(200, 4_000, 2)
    return [
        Job("lasso-tall", "Lasso classifier 1,000,000 x 20, K=2", tall, _lasso(ALPHA), _peers(ALPHA),
            objective=lasso_objective),
        Job("lasso-wide", "Lasso classifier 200 x 4,000, K=2", wide, _lasso(ALPHA), _peers(ALPHA),
            objective=lasso_objective),
        Job("lasso-cv", "Lasso path of 100 in 10 folds, 100,000 x 50, K=2", gaussian_classes(100_000, 50, 2),
            _lasso("cv"), (Contestant("sklearn LassoCV", _lasso_cv),)),
        Job("gradient-l2", "Gradient descent to the L2 logistic minimum, 100,000 x 20", logistic_rows(100_000, 20),
            Contestant("discrim", _descent, coefficients=_coefficients),
            (Contestant("sklearn lbfgs", _lbfgs, coefficients=_coefficients, tols=TOLS),),
            objective=ridge_objective(1.0)),
    ]  # fmt: skip


def lasso_objective(data: Data, coefficients: NDArray[Any]) -> NDArray[np.float64]:
    """|y - b_0 - X b|^2 / (2 n) + alpha |b|_1 for y = +-1."""
    residual = _targets(data) - coefficients[..., 0] - data.X @ coefficients[..., 1:]
    return np.asarray(residual @ residual / (2 * len(residual)) + ALPHA * np.abs(coefficients[..., 1:]).sum())


def _targets(data: Data) -> NDArray[np.float64]:
    return np.where(data.y == 1, 1.0, -1.0)


def _lasso(alpha: Any) -> Contestant:
    def prepare(data: Data) -> Turn:
        model = ours("LassoClassifier")
        return lambda: model(alpha).fit(data.X, data.y)

    return Contestant("discrim", prepare, coefficients=_coefficients)


def _peers(alpha: float) -> tuple[Contestant, ...]:
    def prepare(data: Data, tol: float, precompute: bool) -> Turn:
        y = _targets(data)
        return lambda: Lasso(alpha, tol=tol, precompute=precompute, max_iter=100_000).fit(data.X, y)

    return tuple(
        Contestant(name, partial(prepare, precompute=gram), coefficients=_coefficients, tols=TOLS)
        for name, gram in (("sklearn", False), ("sklearn Gram", True))
    )


def _lasso_cv(data: Data) -> Turn:
    y, folds = _targets(data), list(StratifiedKFold(10).split(data.X, data.y))
    return lambda: LassoCV(cv=folds).fit(data.X, y)


def _descent(data: Data) -> Turn:
    model = ours("GradientDescentClassifier")
    return lambda: model(l2=1.0 / len(data.y)).fit(data.X, data.y)


def _lbfgs(data: Data, tol: float) -> Turn:
    return lambda: LogisticRegression(tol=tol, max_iter=10_000).fit(data.X, data.y)


def _coefficients(model: Any) -> NDArray[Any]:
    return np.append(np.ravel(model.intercept_)[:1], np.ravel(model.coef_))
