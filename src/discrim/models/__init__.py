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
    from discrim.models.categorical_nb import CategoricalNB
    from discrim.models.logistic.cv import LogisticRegressionCV
    from discrim.models.logistic.path import logistic_path
    from discrim.models.logistic.regression import LogisticRegression
    from discrim.models.mixed_nb import MixedNB

__all__ = [
    "CategoricalNB",
    "GaussianNB",
    "LeastSquaresClassifier",
    "LinearDiscriminantAnalysis",
    "LogisticRegression",
    "LogisticRegressionCV",
    "MixedNB",
    "QuadraticDiscriminantAnalysis",
    "RegularizedDiscriminantAnalysis",
    "RidgeClassifier",
    "logistic_path",
    "merge",
]

# Models that bring modules of their own, which are read when they are first asked for.
_LATER = {
    "CategoricalNB": "discrim.models.categorical_nb",
    "LogisticRegression": "discrim.models.logistic.regression",
    "LogisticRegressionCV": "discrim.models.logistic.cv",
    "MixedNB": "discrim.models.mixed_nb",
    "logistic_path": "discrim.models.logistic.path",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = getattr(import_module(_LATER[name]), name)
    return globals()[name]
