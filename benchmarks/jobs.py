"""The table of jobs. A new estimator brings a row."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB

from benchmarks.centroid_jobs import centroid_jobs
from benchmarks.compare_jobs import compare_jobs
from benchmarks.counts_jobs import counts_jobs
from benchmarks.decision_jobs import decision_jobs
from benchmarks.gradient_jobs import gradient_jobs
from benchmarks.job import Contestant, Data, Job, Turn, gaussian_classes, ours
from benchmarks.logistic_jobs import logistic_jobs
from benchmarks.mixed_jobs import mixed_jobs
from benchmarks.online_jobs import online_jobs
from benchmarks.path_jobs import path_jobs

READ, GRAM = "one read of X", "one X.T @ X"
LDA_SOLVERS, QDA_SOLVERS = ("svd", "lsqr", "eigen"), ("svd", "eigen")


def fits_ours(name: str, **params: Any) -> Contestant:
    def prepare(data: Data) -> Turn:
        model = ours(name)
        return lambda: model(**params).fit(data.X, data.y)

    return Contestant("discrim", prepare)


def fits_peer(label: str, model: type, *, once: bool = False, **params: Any) -> Contestant:
    return Contestant(label, lambda data: lambda: model(**params).fit(data.X, data.y), once=once)


def lda_peers() -> tuple[Contestant, ...]:
    return tuple(fits_peer(f"sklearn {s}", LinearDiscriminantAnalysis, solver=s) for s in LDA_SOLVERS)


def qda_peers() -> tuple[Contestant, ...]:
    return tuple(fits_peer(f"sklearn {s}", QuadraticDiscriminantAnalysis, solver=s) for s in QDA_SOLVERS)


def fit_jobs() -> list[Job]:
    tall, wide = gaussian_classes(1_000_000, 20, 2), gaussian_classes(100_000, 100, 10)
    tall32 = gaussian_classes(1_000_000, 20, 2, dtype=np.float32)
    lda, qda = fits_ours("LinearDiscriminantAnalysis"), fits_ours("QuadraticDiscriminantAnalysis")
    return [
        Job("lda-fit-tall", "LDA fit 1,000,000 x 20, K=2", tall, lda, lda_peers(), 10, GRAM, 1.3),
        Job("lda-fit-wide", "LDA fit 100,000 x 100, K=10", wide, lda, lda_peers(), 3.5, GRAM, 1.3),
        Job("lda-fit-float32", "LDA fit 1,000,000 x 20, K=2, float32", tall32, lda, lda_peers(), None, GRAM),
        Job("qda-fit-tall", "QDA fit 1,000,000 x 20, K=2", tall, qda, qda_peers(), 15, GRAM),
        Job("qda-fit-wide", "QDA fit 100,000 x 100, K=10", wide, qda, qda_peers(), 15, GRAM),
        Job(
            "bqda-fit",
            "Bayesian QDA fit 1,000,000 x 20, K=2, psi by evidence",
            tall,
            fits_ours("BayesianQuadraticDiscriminantAnalysis"),
            qda_peers(),
            None,
            GRAM,
        ),
        Job(
            "gnb-fit",
            "GaussianNB fit 1,000,000 x 20, K=2",
            tall,
            fits_ours("GaussianNB"),
            (fits_peer("sklearn", GaussianNB),),
            10,
            READ,
            3.0,
        ),
    ]


def regression_jobs() -> list[Job]:
    five = gaussian_classes(1_000_000, 20, 5)
    ridge = (fits_peer("sklearn", RidgeClassifier, alpha=1.0),)
    least_squares = (
        Contestant("LinearRegression on indicators", _linear_regression_on_indicators),
        fits_peer("RidgeClassifier(1e-10)", RidgeClassifier, alpha=1e-10),
    )
    return [
        Job(
            "ridge-fit",
            "Ridge fit 1,000,000 x 20, K=5",
            five,
            fits_ours("RidgeClassifier", alpha=1.0),
            ridge,
            None,
            GRAM,
        ),
        Job(
            "lsq-fit",
            "Least squares fit 1,000,000 x 20, K=5",
            five,
            fits_ours("LeastSquaresClassifier"),
            least_squares,
            None,
            GRAM,
        ),
    ]


def _linear_regression_on_indicators(data: Data) -> Turn:
    indicators = np.eye(int(data.y.max()) + 1)[data.y]
    return lambda: LinearRegression().fit(data.X, indicators)


def predict_jobs() -> list[Job]:
    five = gaussian_classes(1_000_000, 20, 5)
    families = [
        ("lda", "LDA", "LinearDiscriminantAnalysis", LinearDiscriminantAnalysis),
        ("qda", "QDA", "QuadraticDiscriminantAnalysis", QuadraticDiscriminantAnalysis),
        ("bqda", "Bayesian QDA", "BayesianQuadraticDiscriminantAnalysis", QuadraticDiscriminantAnalysis),
        ("gnb", "GaussianNB", "GaussianNB", GaussianNB),
    ]
    return [
        Job(
            f"{short}-{verb.replace('_', '-')}",
            f"{title} {verb} 1,000,000 x 20, K=5",
            five,
            _calls("discrim", lambda name=name: ours(name), verb),
            (_calls("sklearn", lambda peer=peer: peer, verb),),
            None if short == "bqda" else 2.5,
            READ,
            note="peer: plug-in QDA" if short == "bqda" else "",
        )
        for short, title, name, peer in families
        for verb in ("predict", "predict_proba")
    ]


def _calls(label: str, find_model: Any, verb: str) -> Contestant:
    """A method of a model that was fitted, outside the clock, on the first rows."""

    def prepare(data: Data) -> Turn:
        method = getattr(find_model()().fit(data.X[:20_000], data.y[:20_000]), verb)
        return lambda: method(data.X)

    return Contestant(label, prepare)


def tuning_jobs() -> list[Job]:
    genes = gaussian_classes(62, 4026, 3)
    shrunk = {"solver": "lsqr", "shrinkage": 0.5}
    grid, forty = {"reg_param": np.linspace(0.0, 1.0, 121)}, {"reg_param": np.linspace(0.0, 1.0, 41)}
    return [
        Job(
            "lda-genes",
            "LDA with shrinkage, 62 x 4,026, K=3",
            genes,
            fits_ours("LinearDiscriminantAnalysis", **shrunk),
            (fits_peer("sklearn lsqr", LinearDiscriminantAnalysis, once=True, **shrunk),),
            1000,
            READ,
            note="peer timed once",
        ),
        Job(
            "rda-grid",
            "RDA 11 x 11 grid, 10 folds, 2,000 x 20, K=4",
            gaussian_classes(2_000, 20, 4),
            fits_ours("RegularizedDiscriminantAnalysis", alpha="cv", gamma="cv", cv=10),
            (
                Contestant(
                    "GridSearchCV QDA x 121",
                    lambda data: lambda: GridSearchCV(QuadraticDiscriminantAnalysis(), grid, cv=10).fit(data.X, data.y),
                ),
            ),
            80,
            GRAM,
        ),
        Job(
            "bqda-loo",
            "Bayesian QDA with psi by leave-one-out, 2,000 x 20, K=4",
            gaussian_classes(2_000, 20, 4),
            fits_ours("BayesianQuadraticDiscriminantAnalysis", psi="loo"),
            (
                Contestant(
                    "GridSearchCV QDA x 41",
                    lambda data: (
                        lambda: GridSearchCV(QuadraticDiscriminantAnalysis(), forty, cv=10).fit(data.X, data.y)
                    ),
                ),
            ),
            None,
            GRAM,
            note="41 values of psi by leave-one-out; peer: 41 of reg_param, 10 folds",
        ),
        Job(
            "lda-loo",
            "Leave-one-out LDA, 5,000 x 30, K=3",
            gaussian_classes(5_000, 30, 3),
            Contestant("discrim", _leave_one_out),
            tuple(
                Contestant(f"refits of sklearn {s}", lambda data, s=s: _fifty_refits(data, s), scale=5_000 / 50)
                for s in LDA_SOLVERS
            ),
            1000,
            GRAM,
            memory=False,
            note="peer: 50 of 5,000 refits, times 100",
        ),
    ]


def _leave_one_out(data: Data) -> Turn:
    cross_validate, model = ours("cross_validate"), ours("LinearDiscriminantAnalysis")
    return lambda: cross_validate(model(), data.X, data.y, cv="loo")


def _fifty_refits(data: Data, solver: str) -> Turn:
    def refit() -> None:
        keep = np.ones(len(data.y), bool)
        for i in range(50):
            keep[i] = False
            model = LinearDiscriminantAnalysis(solver=solver).fit(data.X[keep], data.y[keep])
            model.predict_proba(data.X[i : i + 1])
            keep[i] = True

    return refit


def small_jobs() -> list[Job]:
    rows: list[tuple[str, str, dict[str, Any], tuple[tuple[str, type, dict[str, Any]], ...]]] = [
        (
            "lda",
            "LinearDiscriminantAnalysis",
            {},
            tuple((s, LinearDiscriminantAnalysis, {"solver": s}) for s in LDA_SOLVERS),
        ),
        (
            "qda",
            "QuadraticDiscriminantAnalysis",
            {},
            tuple((s, QuadraticDiscriminantAnalysis, {"solver": s}) for s in QDA_SOLVERS),
        ),
        (
            "rda",
            "RegularizedDiscriminantAnalysis",
            {},
            (("QDA(reg_param)", QuadraticDiscriminantAnalysis, {"reg_param": 0.5}),),
        ),
        (
            "bqda",
            "BayesianQuadraticDiscriminantAnalysis",
            {},
            tuple((s, QuadraticDiscriminantAnalysis, {"solver": s}) for s in QDA_SOLVERS),
        ),
        ("gnb", "GaussianNB", {}, (("GaussianNB", GaussianNB, {}),)),
        ("ridge", "RidgeClassifier", {}, (("RidgeClassifier", RidgeClassifier, {}),)),
        (
            "lsq",
            "LeastSquaresClassifier",
            {},
            (("RidgeClassifier(1e-10)", RidgeClassifier, {"alpha": 1e-10}),),
        ),
    ]
    return [
        Job(
            f"iris-{short}",
            f"{name} fit + predict, iris 150 x 4",
            _iris,
            _fits_and_predicts("discrim", lambda name=name: ours(name), params),
            tuple(_fits_and_predicts(f"sklearn {s}", lambda m=m: m, kw) for s, m, kw in peers),
            None if short == "bqda" else 2.0,
            memory=False,
        )
        for short, name, params, peers in rows
    ]


def _iris(_small: bool) -> Data:
    return Data(*load_iris(return_X_y=True))


def _fits_and_predicts(label: str, find_model: Any, params: dict[str, Any]) -> Contestant:
    def prepare(data: Data) -> Turn:
        model = find_model()
        return lambda: model(**params).fit(data.X, data.y).predict(data.X)

    return Contestant(label, prepare)


JOBS: list[Job] = [
    *fit_jobs(),
    *regression_jobs(),
    *predict_jobs(),
    *tuning_jobs(),
    *small_jobs(),
    *centroid_jobs(),
    *mixed_jobs(),
    *logistic_jobs(),
    *path_jobs(),
    *counts_jobs(),
    *online_jobs(),
    *gradient_jobs(),
    *decision_jobs(),
    *compare_jobs(),
]
