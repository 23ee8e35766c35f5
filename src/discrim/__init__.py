"""Classical linear and quadratic classification: fitted in one pass, tuned for free, read like R."""

from typing import TYPE_CHECKING, Any

from discrim import datasets, models, text
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
    "PassiveAggressiveClassifier",
    "Perceptron",
    "QuadraticDiscriminantAnalysis",
    "RegularizedDiscriminantAnalysis",
    "RidgeClassifier",
    "SGDClassifier",
    "TextClassifier",
    "cross_validate",
    "datasets",
    "logistic_path",
    "merge",
    "scan",
    "text",
]


def __getattr__(name: str) -> Any:
    # What models does not read before it is asked for.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(models, name)
