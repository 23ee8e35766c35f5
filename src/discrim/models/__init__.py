"""The estimators: parameters, the recipe that they make, and how what was learned reads."""

from typing import TYPE_CHECKING

from discrim.later import read_later

if TYPE_CHECKING:
    from discrim.models.bayesian.lda import BayesianLinearDiscriminantAnalysis as BayesianLinearDiscriminantAnalysis
    from discrim.models.bayesian.qda import (
        BayesianQuadraticDiscriminantAnalysis as BayesianQuadraticDiscriminantAnalysis,
    )
    from discrim.models.counts.bernoulli import BernoulliNB as BernoulliNB
    from discrim.models.counts.multinomial import ComplementNB as ComplementNB
    from discrim.models.counts.multinomial import MultinomialNB as MultinomialNB
    from discrim.models.gaussian.lda import LinearDiscriminantAnalysis as LinearDiscriminantAnalysis
    from discrim.models.gaussian.naive import GaussianNB as GaussianNB
    from discrim.models.gaussian.nearest_centroid import NearestCentroid as NearestCentroid
    from discrim.models.gaussian.qda import QuadraticDiscriminantAnalysis as QuadraticDiscriminantAnalysis
    from discrim.models.gaussian.rda import RegularizedDiscriminantAnalysis as RegularizedDiscriminantAnalysis
    from discrim.models.logistic.cv import LogisticRegressionCV as LogisticRegressionCV
    from discrim.models.logistic.path import logistic_path as logistic_path
    from discrim.models.logistic.regression import LogisticRegression as LogisticRegression
    from discrim.models.merging import merge as merge
    from discrim.models.mixed.categorical import CategoricalNB as CategoricalNB
    from discrim.models.mixed.mixed import MixedNB as MixedNB
    from discrim.models.online.arow import AROWClassifier as AROWClassifier
    from discrim.models.online.gradient_descent import GradientDescentClassifier as GradientDescentClassifier
    from discrim.models.online.one_pass import OnePassLogisticRegression as OnePassLogisticRegression
    from discrim.models.online.passive_aggressive import PassiveAggressiveClassifier as PassiveAggressiveClassifier
    from discrim.models.online.perceptron import Perceptron as Perceptron
    from discrim.models.online.rosenblatt import RosenblattPerceptron as RosenblattPerceptron
    from discrim.models.online.sgd import SGDClassifier as SGDClassifier
    from discrim.models.regression.lasso import LassoClassifier as LassoClassifier
    from discrim.models.regression.least_squares import LeastSquaresClassifier as LeastSquaresClassifier
    from discrim.models.regression.ridge import RidgeClassifier as RidgeClassifier
    from discrim.models.text_classifier import TextClassifier as TextClassifier

_MODULES = {
    "AROWClassifier": "discrim.models.online.arow",
    "BayesianLinearDiscriminantAnalysis": "discrim.models.bayesian.lda",
    "BayesianQuadraticDiscriminantAnalysis": "discrim.models.bayesian.qda",
    "BernoulliNB": "discrim.models.counts.bernoulli",
    "CategoricalNB": "discrim.models.mixed.categorical",
    "ComplementNB": "discrim.models.counts.multinomial",
    "GaussianNB": "discrim.models.gaussian.naive",
    "GradientDescentClassifier": "discrim.models.online.gradient_descent",
    "LassoClassifier": "discrim.models.regression.lasso",
    "LeastSquaresClassifier": "discrim.models.regression.least_squares",
    "LinearDiscriminantAnalysis": "discrim.models.gaussian.lda",
    "LogisticRegression": "discrim.models.logistic.regression",
    "LogisticRegressionCV": "discrim.models.logistic.cv",
    "MixedNB": "discrim.models.mixed.mixed",
    "MultinomialNB": "discrim.models.counts.multinomial",
    "NearestCentroid": "discrim.models.gaussian.nearest_centroid",
    "OnePassLogisticRegression": "discrim.models.online.one_pass",
    "PassiveAggressiveClassifier": "discrim.models.online.passive_aggressive",
    "Perceptron": "discrim.models.online.perceptron",
    "QuadraticDiscriminantAnalysis": "discrim.models.gaussian.qda",
    "RegularizedDiscriminantAnalysis": "discrim.models.gaussian.rda",
    "RidgeClassifier": "discrim.models.regression.ridge",
    "RosenblattPerceptron": "discrim.models.online.rosenblatt",
    "SGDClassifier": "discrim.models.online.sgd",
    "TextClassifier": "discrim.models.text_classifier",
    "logistic_path": "discrim.models.logistic.path",
    "merge": "discrim.models.merging",
}

__all__ = list(_MODULES)
__getattr__ = read_later(__name__, _MODULES)
