"""Classical linear and quadratic classification: fitted in one pass, tuned for free, read like R."""

from typing import TYPE_CHECKING, Any

from discrim import datasets, models
from discrim.evaluation import cross_validate
from discrim.models import (
    GaussianNB,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    RidgeClassifier,
    merge,
)
from discrim.sources import scan

if TYPE_CHECKING:
    from discrim.models import (
        AROWClassifier,
        GradientDescentClassifier,
        LassoClassifier,
        LogisticRegression,
        LogisticRegressionCV,
        PassiveAggressiveClassifier,
        Perceptron,
        SGDClassifier,
        logistic_path,
    )

__version__ = "0.1.0"

__all__ = [
    "AROWClassifier",
    "GaussianNB",
    "GradientDescentClassifier",
    "LassoClassifier",
    "LeastSquaresClassifier",
    "LinearDiscriminantAnalysis",
    "LogisticRegression",
    "LogisticRegressionCV",
    "PassiveAggressiveClassifier",
    "Perceptron",
    "QuadraticDiscriminantAnalysis",
    "RegularizedDiscriminantAnalysis",
    "RidgeClassifier",
    "SGDClassifier",
    "cross_validate",
    "datasets",
    "logistic_path",
    "merge",
    "scan",
]


def __getattr__(name: str) -> Any:
    # What models does not read before it is asked for.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(models, name)
