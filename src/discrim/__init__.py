"""Classical linear and quadratic classification: fitted in one pass, tuned for free, read like R."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from discrim import datasets, models
from discrim.evaluation import cross_validate
from discrim.models import (
    BayesianLinearDiscriminantAnalysis,
    BayesianQuadraticDiscriminantAnalysis,
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
    from discrim import basis, decision, evaluation, text
    from discrim.decision.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
    from discrim.evaluation import compare_auc, confusion, roc
    from discrim.models import (
        AROWClassifier,
        BernoulliNB,
        CategoricalNB,
        ComplementNB,
        GradientDescentClassifier,
        LassoClassifier,
        LogisticRegression,
        LogisticRegressionCV,
        MixedNB,
        MultinomialNB,
        PassiveAggressiveClassifier,
        Perceptron,
        SGDClassifier,
        TextClassifier,
        logistic_path,
    )

__version__ = "0.1.0"

__all__ = [
    "AROWClassifier",
    "BayesianLinearDiscriminantAnalysis",
    "BayesianQuadraticDiscriminantAnalysis",
    "BernoulliNB",
    "CategoricalNB",
    "ComplementNB",
    "GaussianNB",
    "GradientDescentClassifier",
    "LassoClassifier",
    "LeastSquaresClassifier",
    "LinearDiscriminantAnalysis",
    "LogisticRegression",
    "LogisticRegressionCV",
    "MixedNB",
    "MultinomialNB",
    "OneVsOneClassifier",
    "OneVsRestClassifier",
    "OutputCodeClassifier",
    "PassiveAggressiveClassifier",
    "Perceptron",
    "QuadraticDiscriminantAnalysis",
    "RegularizedDiscriminantAnalysis",
    "RidgeClassifier",
    "SGDClassifier",
    "TextClassifier",
    "basis",
    "compare_auc",
    "confusion",
    "cross_validate",
    "datasets",
    "decision",
    "evaluation",
    "logistic_path",
    "merge",
    "roc",
    "scan",
    "text",
]


# Rooms, and names of rooms, that are read when they are first asked for.
_ROOMS = ("basis", "decision", "evaluation", "text")
_FROM = {
    "OneVsOneClassifier": "discrim.decision.multiclass",
    "OneVsRestClassifier": "discrim.decision.multiclass",
    "OutputCodeClassifier": "discrim.decision.multiclass",
    "compare_auc": "discrim.evaluation",
    "confusion": "discrim.evaluation",
    "roc": "discrim.evaluation",
}


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"discrim.{name}")
    if name in _FROM:
        return getattr(import_module(_FROM[name]), name)
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(models, name)
