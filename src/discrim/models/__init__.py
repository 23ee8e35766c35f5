"""The estimators: parameters, the recipe that they make, and how what was learned reads."""

from typing import TYPE_CHECKING

from discrim.later import read_later

if TYPE_CHECKING:
    from discrim.models.bayesian.lda import BayesianLinearDiscriminantAnalysis
    from discrim.models.bayesian.qda import BayesianQuadraticDiscriminantAnalysis
    from discrim.models.counts.bernoulli import BernoulliNB
    from discrim.models.counts.complement import ComplementNB
    from discrim.models.counts.multinomial import MultinomialNB
    from discrim.models.gaussian.lda import LinearDiscriminantAnalysis
    from discrim.models.gaussian.naive import GaussianNB
    from discrim.models.gaussian.nearest_centroid import NearestCentroid
    from discrim.models.gaussian.qda import QuadraticDiscriminantAnalysis
    from discrim.models.gaussian.rda import RegularizedDiscriminantAnalysis
    from discrim.models.logistic.cv import LogisticRegressionCV
    from discrim.models.logistic.path import logistic_path
    from discrim.models.logistic.regression import LogisticRegression
    from discrim.models.merging import merge
    from discrim.models.mixed.categorical import CategoricalNB
    from discrim.models.mixed.mixed import MixedNB
    from discrim.models.online.gradient_descent import GradientDescentClassifier
    from discrim.models.online.learners import AROWClassifier, PassiveAggressiveClassifier, Perceptron, SGDClassifier
    from discrim.models.online.one_pass import OnePassLogisticRegression
    from discrim.models.online.rosenblatt import RosenblattPerceptron
    from discrim.models.regression.lasso import LassoClassifier
    from discrim.models.regression.least_squares import LeastSquaresClassifier
    from discrim.models.regression.ridge import RidgeClassifier
    from discrim.models.text_classifier import TextClassifier

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
    "NearestCentroid",
    "OnePassLogisticRegression",
    "PassiveAggressiveClassifier",
    "Perceptron",
    "QuadraticDiscriminantAnalysis",
    "RegularizedDiscriminantAnalysis",
    "RidgeClassifier",
    "RosenblattPerceptron",
    "SGDClassifier",
    "TextClassifier",
    "logistic_path",
    "merge",
]

__getattr__ = read_later(
    __name__,
    {
        "AROWClassifier": "discrim.models.online.learners",
        "BayesianLinearDiscriminantAnalysis": "discrim.models.bayesian.lda",
        "BayesianQuadraticDiscriminantAnalysis": "discrim.models.bayesian.qda",
        "BernoulliNB": "discrim.models.counts.bernoulli",
        "CategoricalNB": "discrim.models.mixed.categorical",
        "ComplementNB": "discrim.models.counts.complement",
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
        "PassiveAggressiveClassifier": "discrim.models.online.learners",
        "Perceptron": "discrim.models.online.learners",
        "QuadraticDiscriminantAnalysis": "discrim.models.gaussian.qda",
        "RegularizedDiscriminantAnalysis": "discrim.models.gaussian.rda",
        "RidgeClassifier": "discrim.models.regression.ridge",
        "RosenblattPerceptron": "discrim.models.online.rosenblatt",
        "SGDClassifier": "discrim.models.online.learners",
        "TextClassifier": "discrim.models.text_classifier",
        "logistic_path": "discrim.models.logistic.path",
        "merge": "discrim.models.merging",
    },
)
