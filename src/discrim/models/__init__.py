"""The scikit-learn face: a model picks a statistic, a solver and a rule."""

from discrim.models.gaussian_nb import GaussianNB
from discrim.models.lda import LinearDiscriminantAnalysis
from discrim.models.least_squares import LeastSquaresClassifier
from discrim.models.logistic.cv import LogisticRegressionCV
from discrim.models.logistic.path import logistic_path
from discrim.models.logistic.regression import LogisticRegression
from discrim.models.merging import merge
from discrim.models.qda import QuadraticDiscriminantAnalysis
from discrim.models.rda import RegularizedDiscriminantAnalysis
from discrim.models.ridge import RidgeClassifier

__all__ = [
    "GaussianNB",
    "LeastSquaresClassifier",
    "LinearDiscriminantAnalysis",
    "LogisticRegression",
    "LogisticRegressionCV",
    "QuadraticDiscriminantAnalysis",
    "RegularizedDiscriminantAnalysis",
    "RidgeClassifier",
    "logistic_path",
    "merge",
]
