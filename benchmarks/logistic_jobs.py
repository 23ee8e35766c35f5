"""Rows for logistic regression without a penalty and with L2.

scikit-learn's 'sag', 'saga' and 'liblinear' appear where the columns have equal scales: with unequal ones they
do not get near the minimum. 'liblinear' penalises the intercept; a large ``intercept_scaling`` makes that part
vanish. statsmodels gets its column of ones, and glum its columns one after the other, outside the clock. glum
has no softmax.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from benchmarks.job import Contestant, Data, Job, Turn, ours
from benchmarks.logistic_data import logistic_rows, ridge_objective

TOLS = tuple(10.0**-k for k in range(2, 13))
SMOOTH = ("newton-cholesky", "lbfgs", "newton-cg")
STOCHASTIC = ("sag", "saga")
EVERY = (*SMOOTH, "liblinear", *STOCHASTIC)


def logistic_jobs() -> list[Job]:
    unequal = partial(logistic_rows, unequal=True)
    return [
        _tall(),
        _ridge("scales-100", "L2 100,000 x 100, unequal scales", unequal(100_000, 100), 4.0, SMOOTH),
        _ridge("scales-400", "L2 20,000 x 400, unequal scales", unequal(20_000, 400), 2.5, SMOOTH),
        _ridge("small", "L2 1,000 x 10", logistic_rows(1_000, 10), 3.0, EVERY),
        _ridge("softmax", "L2 60,000 x 100, K=10", logistic_rows(60_000, 100, 10), 2.0, (*SMOOTH, *STOCHASTIC)),
        # x'x is about p: with C=1 there would be nearly no penalty.
        _ridge("wide", "L2 (C=0.001) 100 x 5,000", logistic_rows(100, 5_000), 3.0, EVERY, C=1e-3),
    ]


def _ridge(
    name: str, title: str, make: Callable[[bool], Data], target: float, solvers: Sequence[str], C: float = 1.0
) -> Job:
    peers = _sklearn(*solvers, C=C) if name == "softmax" else (*_sklearn(*solvers, C=C), _glum(C))
    objective = ridge_objective(1.0 / C)
    return Job(f"logit-{name}", f"Logistic {title}", make, _ours(C=C), peers, target, objective=objective)


def _tall() -> Job:
    unpenalised = (
        *_sklearn(*SMOOTH, C=np.inf),
        Contestant("statsmodels Logit", _logit, coefficients=_statsmodels_coefficients, tols=TOLS),
        Contestant("statsmodels GLM", _glm, coefficients=_statsmodels_coefficients, tols=TOLS),
        _glum(C=np.inf),
    )
    return Job(
        "logit-tall",
        "Logistic 1,000,000 x 20, no penalty, standard errors",
        logistic_rows(1_000_000, 20),
        Contestant("discrim", _ours_with_errors, coefficients=_coefficients),
        unpenalised,
        6.0,
        note="sklearn without standard errors",
        objective=ridge_objective(0.0),
        most_passes=4,
    )


def _coefficients(model: Any) -> NDArray[Any]:
    return np.column_stack([np.atleast_1d(model.intercept_), np.atleast_2d(model.coef_)])


def _ours(**params: Any) -> Contestant:
    def prepare(data: Data) -> Turn:
        model = ours("LogisticRegression")
        return lambda: model(**params).fit(data.X, data.y)

    return Contestant("discrim", prepare, coefficients=_coefficients)


def _ours_with_errors(data: Data) -> Turn:
    model = ours("LogisticRegression")

    def turn() -> Any:
        fitted = model(C=np.inf).fit(data.X, data.y)
        assert np.isfinite(fitted.summary().std_error).all()
        return fitted

    return turn


def _sklearn(*solvers: str, C: float = 1.0) -> tuple[Contestant, ...]:
    return tuple(
        Contestant(f"sklearn {s}", partial(_sklearn_fit, s, C), coefficients=_coefficients, tols=TOLS) for s in solvers
    )


def _sklearn_fit(solver: str, C: float, data: Data, tol: float) -> Turn:
    options: dict[str, Any] = {"C": C, "solver": solver, "tol": tol, "max_iter": 10_000}
    if solver == "liblinear":
        options |= {"max_iter": 1_000, "intercept_scaling": 30.0, "dual": data.X.shape[0] < data.X.shape[1]}
    if solver in STOCHASTIC:
        options |= {"random_state": 0, "max_iter": 300}
    return lambda: LogisticRegression(**options).fit(data.X, data.y)


def _glum(C: float = 1.0) -> Contestant:
    """With standard errors where there is no penalty; its objective is a mean, so that alpha = 1 / (C n)."""

    def prepare(data: Data, tol: float) -> Turn:
        from glum import GeneralizedLinearRegressor

        X, y = np.asfortranarray(data.X), data.y.astype(float)
        options = {"family": "binomial", "alpha": 1.0 / (C * len(y)), "gradient_tol": tol, "max_iter": 1_000}
        errors = bool(np.isinf(C))
        return lambda: GeneralizedLinearRegressor(**options, robust=False, expected_information=True).fit(
            X, y, store_covariance_matrix=errors
        )

    return Contestant("glum", prepare, coefficients=_coefficients, tols=TOLS)


def _logit(data: Data, tol: float) -> Turn:
    import statsmodels.api as sm

    X, y = sm.add_constant(data.X), data.y.astype(float)

    def turn() -> Any:
        result = sm.Logit(y, X).fit(method="newton", tol=tol, disp=0)
        assert np.isfinite(result.bse).all()
        return result

    return turn


def _glm(data: Data, tol: float) -> Turn:
    import statsmodels.api as sm

    X, y = sm.add_constant(data.X), data.y.astype(float)

    def turn() -> Any:
        result = sm.GLM(y, X, family=sm.families.Binomial()).fit(tol=tol)
        assert np.isfinite(result.bse).all()
        return result

    return turn


def _statsmodels_coefficients(result: Any) -> NDArray[Any]:
    return np.asarray(result.params)[None]
