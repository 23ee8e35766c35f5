"""Rows for the multi-class schemes (LDA inside, one pass against one fit a problem), and for the area under ROC."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import metrics, multiclass
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from benchmarks.job import Contestant, Data, Job, Turn, gaussian_classes, ours

GRAM = "one X.T @ X"
SOLVERS = ("svd", "lsqr")


def decision_jobs() -> list[Job]:
    many = gaussian_classes(100_000, 50, 10)
    schemes = [
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
    return [*schemes, _auc_job()]


def _auc_job() -> Job:
    return Job(
        "auc-delong",
        "AUC with DeLong's interval, 10,000,000 scores",
        _scores,
        Contestant("discrim", lambda data: lambda: ours("roc")(data.y, data.X).auc_ci()),
        (Contestant("sklearn roc_auc_score, no interval", lambda data: lambda: metrics.roc_auc_score(data.y, data.X)),),
        floor="one sort",
        floor_limit=3,
    )


def _scores(small: bool) -> Data:
    rng = np.random.default_rng(20260)
    y = rng.integers(0, 2, 1_000 if small else 10_000_000)
    return Data(rng.standard_normal(len(y)) + y, y)


def _fits_ours(name: str) -> Any:
    def prepare(data: Data) -> Turn:
        scheme, model = ours(name), ours("LinearDiscriminantAnalysis")
        return lambda: scheme(model()).fit(data.X, data.y)

    return prepare


def _fits_peer(name: str, solver: str) -> Any:
    scheme = getattr(multiclass, name)
    return lambda data: lambda: scheme(LinearDiscriminantAnalysis(solver=solver)).fit(data.X, data.y)
