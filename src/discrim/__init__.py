"""Classical linear and quadratic classification: fitted in one pass, tuned for free, read like R."""

from discrim import datasets
from discrim.evaluation import cross_validate
from discrim.models import (
    GaussianNB,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    LogisticRegressionCV,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    RidgeClassifier,
    logistic_path,
    merge,
)
from discrim.sources import scan

__version__ = "0.1.0"

__all__ = [
    "GaussianNB",
    "LeastSquaresClassifier",
    "LinearDiscriminantAnalysis",
    "LogisticRegression",
    "LogisticRegressionCV",
    "QuadraticDiscriminantAnalysis",
    "RegularizedDiscriminantAnalysis",
    "RidgeClassifier",
    "cross_validate",
    "datasets",
    "logistic_path",
    "merge",
    "scan",
]
