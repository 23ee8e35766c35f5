"""Classical linear and quadratic classification: fitted in one pass, tuned for free, read like R."""

from typing import TYPE_CHECKING

from discrim import datasets
from discrim.evaluation import cross_validate
from discrim.later import read_later
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
    from discrim import basis, decision, inference, text
    from discrim.decision.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
    from discrim.evaluation import compare, compare_auc, confusion, roc
    from discrim.models import (
        AROWClassifier,
        BayesianLinearDiscriminantAnalysis,
        BayesianQuadraticDiscriminantAnalysis,
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
    "compare",
    "compare_auc",
    "confusion",
    "cross_validate",
    "datasets",
    "decision",
    "evaluation",
    "inference",
    "logistic_path",
    "merge",
    "roc",
    "scan",
    "text",
]

__getattr__ = read_later(
    __name__,
    {
        "AROWClassifier": "discrim.models",
        "BayesianLinearDiscriminantAnalysis": "discrim.models",
        "BayesianQuadraticDiscriminantAnalysis": "discrim.models",
        "BernoulliNB": "discrim.models",
        "CategoricalNB": "discrim.models",
        "ComplementNB": "discrim.models",
        "GradientDescentClassifier": "discrim.models",
        "LassoClassifier": "discrim.models",
        "LogisticRegression": "discrim.models",
        "LogisticRegressionCV": "discrim.models",
        "MixedNB": "discrim.models",
        "MultinomialNB": "discrim.models",
        "OneVsOneClassifier": "discrim.decision.multiclass",
        "OneVsRestClassifier": "discrim.decision.multiclass",
        "OutputCodeClassifier": "discrim.decision.multiclass",
        "PassiveAggressiveClassifier": "discrim.models",
        "Perceptron": "discrim.models",
        "SGDClassifier": "discrim.models",
        "TextClassifier": "discrim.models",
        "compare": "discrim.evaluation",
        "compare_auc": "discrim.evaluation",
        "confusion": "discrim.evaluation",
        "logistic_path": "discrim.models",
        "roc": "discrim.evaluation",
    },
    rooms=("basis", "decision", "inference", "text"),
)
