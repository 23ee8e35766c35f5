"""Rows for the lasso path of logistic regression, all on the same hundred lambdas, without standardising.

The peers that want columns one after the other get them so outside the clock. celer has no intercept: it is
timed on, and compared with ours on, that easier problem.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import PredefinedSplit

from benchmarks.glmnet import glmnet_turn, path_of
from benchmarks.job import Contestant, Job, Turn, ours
from benchmarks.logistic_data import PathData, lasso_objective, path_rows, text_rows

TOLS = tuple(10.0**-k for k in range(3, 13))
THRESHOLDS = tuple(10.0**-k for k in range(5, 15))


def path_jobs() -> list[Job]:
    mine = Contestant("discrim", _ours, coefficients=_our_coefficients)
    glmnet = Contestant("R glmnet", glmnet_turn, elsewhere=True, coefficients=path_of, tols=THRESHOLDS)
    skglm = Contestant("skglm", _skglm, coefficients=_stacked, tols=TOLS)
    celer = [
        Contestant(
            f"celer{' PN' * newton}, no intercept",
            partial(_celer, newton),
            coefficients=_stacked,
            tols=TOLS,
            problem=PathData.without_intercept,
        )
        for newton in (True, False)
    ]
    glum = Contestant("glum", _glum, coefficients=_glum_coefficients, tols=TOLS)
    sklearn = [
        Contestant(
            f"sklearn LogisticRegressionCV {solver}, 2 of 10 folds x 5",
            partial(_sklearn_cv, solver),
            scale=10 / 2,
            coefficients=_first_fold,
            tols=TOLS,
            problem=PathData.without_first_fold,
        )
        for solver in ("saga", "liblinear")
    ]
    tall, wide = path_rows(100_000, 50), path_rows(500, 20_000)
    text, folds = text_rows(20_000, 100_000), path_rows(10_000, 50, folds=10)
    rows: list[tuple[str, str, Any, tuple[Contestant, ...], float]] = [
        ("tall", "Lasso path 100,000 x 50", tall, (skglm, *celer, glmnet, glum), 3.0),
        ("wide", "Lasso path 500 x 20,000", wide, (skglm, *celer, glmnet), 1.5),
        ("text", "Lasso path 20,000 x 100,000, sparse", text, (skglm, *celer, glmnet), 1.5),
        ("cv", "Lasso path 10,000 x 50, 10 folds", folds, (glmnet, *sklearn), 5.0),
    ]
    return [
        Job(f"l1-path-{name}", f"Logistic {title}", make, mine, peers, target, objective=lasso_objective)
        for name, title, make, peers, target in rows
    ]


def _ours(data: PathData) -> Turn:
    logistic_path = ours("logistic_path")
    return lambda: logistic_path(
        data.X, data.y, lambdas=data.lambdas, standardize=False, fit_intercept=data.intercept, cv=data.folds
    )


def _our_coefficients(path: Any) -> NDArray[Any]:
    return np.column_stack([path.intercept, path.coef])


def _by_columns(data: PathData) -> tuple[Any, NDArray[np.float64]]:
    """X by columns, and labels -1 and 1."""
    X = sparse.csc_matrix(data.X) if sparse.issparse(data.X) else np.asfortranarray(data.X)
    return X, 2.0 * data.y - 1.0


def _skglm(data: PathData, tol: float) -> Turn:
    from skglm.datafits import Logistic
    from skglm.penalties import L1
    from skglm.solvers import ProxNewton

    X, y = _by_columns(data)
    solver = ProxNewton(tol=tol, max_iter=100, fit_intercept=True)

    def follow(lambdas: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        w, eta, found = np.zeros(X.shape[1] + 1), np.zeros(len(y)), []
        for lam in lambdas:
            # The solver writes to w and eta, where the next one starts.
            w = solver.solve(X, y, Logistic(), L1(lam), w, eta)[0]
            found.append(np.roll(w, 1))
        return found

    # Compiles.
    follow(data.lambdas[:2])
    return lambda: follow(data.lambdas)


def _celer(newton: bool, data: PathData, tol: float) -> Turn:
    from celer import celer_path

    X, y = _by_columns(data)
    alphas = data.lambdas * len(y)

    def turn() -> list[NDArray[np.float64]]:
        slopes = celer_path(X, y, pb="logreg", alphas=alphas, tol=tol, max_iter=100, use_PN=newton)[1]
        return [np.concatenate([[0.0], column]) for column in slopes.T]

    return turn


def _stacked(found: list[NDArray[Any]]) -> NDArray[Any]:
    return np.stack(found)


def _glum(data: PathData, tol: float) -> Turn:
    from glum import GeneralizedLinearRegressor

    X, y = np.asfortranarray(data.X), data.y.astype(float)
    options = {"family": "binomial", "l1_ratio": 1.0, "gradient_tol": tol, "max_iter": 1_000}
    return lambda: GeneralizedLinearRegressor(alpha_search=True, alphas=data.lambdas, **options).fit(X, y)


def _glum_coefficients(model: Any) -> NDArray[Any]:
    return np.column_stack([model.intercept_path_, model.coef_path_])


def _sklearn_cv(solver: str, data: PathData, tol: float) -> Turn:
    """The fits of the first two folds, without that of all rows."""
    assert data.folds is not None
    train = int((data.folds > 0).sum())
    options: dict[str, Any] = {
        "Cs": 1.0 / (train * data.lambdas),
        "l1_ratios": (1.0,),
        "cv": PredefinedSplit(np.where(data.folds < 2, data.folds, -1)),
        "refit": False,
        "solver": solver,
        "scoring": "neg_log_loss",
        "tol": tol,
        "max_iter": 1_000,
        "intercept_scaling": 1e3,
        "use_legacy_attributes": False,
        "n_jobs": -1,
        "random_state": 0,
    }
    return lambda: LogisticRegressionCV(**options).fit(data.X, data.y)


def _first_fold(model: Any) -> NDArray[Any]:
    """Coefficients of the first fold's fits for every C."""
    return np.roll(np.asarray(model.coefs_paths_)[0, 0, :, 0, :], 1, axis=1)
