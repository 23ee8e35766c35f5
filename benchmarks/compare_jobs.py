"""The comparison of all models against scikit-learn's cross-validation of four."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB

from benchmarks.job import Contestant, Data, Job, Turn, gaussian_classes, ours

FOLDS = 10
FOUR = (LogisticRegression, LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, GaussianNB)
NOTE = "ours: all models, tuned inside the folds, with checks; the peer: four models with default settings, untuned"


def compare_jobs() -> list[Job]:
    data: dict[str, tuple[str, Callable[[bool], Data]]] = {
        "compare": ("several clusters a class", _clusters),
        "compare-gaussian": ("Gaussian classes", gaussian_classes(10_000, 50, 5)),
    }
    return [
        Job(
            name,
            f"compare 10,000 x 50, K=5, ten folds, {kind}",
            make,
            Contestant("discrim", _all_models),
            (Contestant("sklearn, four models", _four_models),),
            1.0,
            note=NOTE,
        )
        for name, (kind, make) in data.items()
    ]


def _clusters(small: bool) -> Data:
    n, p, informative = (500, 10, 6) if small else (10_000, 50, 15)
    X, y = make_classification(n, p, n_informative=informative, n_redundant=0, n_classes=5, random_state=0)
    return Data(X, y)


def _all_models(data: Data) -> Turn:
    compare = ours("compare")
    return lambda: compare(data.X, data.y, cv=FOLDS)


def _four_models(data: Data) -> Turn:
    def turn() -> list[Any]:
        return [np.mean(cross_val_score(model(), data.X, data.y, cv=FOLDS)) for model in FOUR]

    return turn
