"""The scikit-learn face: a model picks a statistic, a solver and a rule."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from discrim.models.gaussian_nb import GaussianNB
from discrim.models.lda import LinearDiscriminantAnalysis
from discrim.models.least_squares import LeastSquaresClassifier
from discrim.models.merging import merge
from discrim.models.qda import QuadraticDiscriminantAnalysis
from discrim.models.rda import RegularizedDiscriminantAnalysis
from discrim.models.ridge import RidgeClassifier

if TYPE_CHECKING:
    from discrim.models.gradient_descent import GradientDescentClassifier
    from discrim.models.lasso_classifier import LassoClassifier
    from discrim.models.logistic.cv import LogisticRegressionCV
    from discrim.models.logistic.path import logistic_path
    from discrim.models.logistic.regression import LogisticRegression
    from discrim.models.online.arow import AROWClassifier
    from discrim.models.online.passive_aggressive import PassiveAggressiveClassifier
    from discrim.models.online.perceptron import Perceptron
    from discrim.models.online.sgd import SGDClassifier

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
    "logistic_path",
    "merge",
]

# These bring more modules than all others together: they are read when one of them is first asked for.
_LATER = {
    "AROWClassifier": "discrim.models.online.arow",
    "GradientDescentClassifier": "discrim.models.gradient_descent",
    "LassoClassifier": "discrim.models.lasso_classifier",
    "LogisticRegression": "discrim.models.logistic.regression",
    "LogisticRegressionCV": "discrim.models.logistic.cv",
    "PassiveAggressiveClassifier": "discrim.models.online.passive_aggressive",
    "Perceptron": "discrim.models.online.perceptron",
    "SGDClassifier": "discrim.models.online.sgd",
    "logistic_path": "discrim.models.logistic.path",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = getattr(import_module(_LATER[name]), name)
    return globals()[name]
