"""Rows for the multi-class schemes: linear discriminant analysis inside, one pass against one fit a problem."""

from __future__ import annotations

from typing import Any

from sklearn import multiclass
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from benchmarks.job import Contestant, Data, Job, Turn, gaussian_classes, ours

GRAM = "one X.T @ X"
SOLVERS = ("svd", "lsqr")


def decision_jobs() -> list[Job]:
    many = gaussian_classes(100_000, 50, 10)
    return [
        Job(
            f"{short}-lda",
            f"{name} of LDA, fit 100,000 x 50, K=10",
            many,
            Contestant("discrim", _fits_ours(name)),
            tuple(Contestant(f"sklearn {solver}", _fits_peer(name, solver), once=True) for solver in SOLVERS),
            target,
            GRAM,
            note="peers timed once",
        )
        for short, name, target in (("ovr", "OneVsRestClassifier", 10), ("ovo", "OneVsOneClassifier", 5))
    ]


def _fits_ours(name: str) -> Any:
    def prepare(data: Data) -> Turn:
        scheme, model = ours(name), ours("LinearDiscriminantAnalysis")
        return lambda: scheme(model()).fit(data.X, data.y)

    return prepare


def _fits_peer(name: str, solver: str) -> Any:
    scheme = getattr(multiclass, name)
    return lambda data: lambda: scheme(LinearDiscriminantAnalysis(solver=solver)).fit(data.X, data.y)
