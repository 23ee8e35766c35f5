from discrim.models.bayesian.discriminants import (
    BayesianLinearDiscriminantAnalysis as BayesianLinearDiscriminantAnalysis,
)
from discrim.models.bayesian.discriminants import (
    BayesianQuadraticDiscriminantAnalysis as BayesianQuadraticDiscriminantAnalysis,
)
from discrim.models.counts.bernoulli import BernoulliNB as BernoulliNB
from discrim.models.counts.multinomial import ComplementNB as ComplementNB
from discrim.models.counts.multinomial import MultinomialNB as MultinomialNB
from discrim.models.formula import FormulaClassifier as FormulaClassifier
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
from discrim.models.online.gradient_descent import GradientDescentClassifier as GradientDescentClassifier
from discrim.models.online.learners import AROWClassifier as AROWClassifier
from discrim.models.online.learners import PassiveAggressiveClassifier as PassiveAggressiveClassifier
from discrim.models.online.learners import Perceptron as Perceptron
from discrim.models.online.learners import SGDClassifier as SGDClassifier
from discrim.models.online.one_pass import OnePassLogisticRegression as OnePassLogisticRegression
from discrim.models.online.rosenblatt import RosenblattPerceptron as RosenblattPerceptron
from discrim.models.regression.lasso import LassoClassifier as LassoClassifier
from discrim.models.regression.least_squares import LeastSquaresClassifier as LeastSquaresClassifier
from discrim.models.regression.ridge import RidgeClassifier as RidgeClassifier
from discrim.models.text_classifier import TextClassifier as TextClassifier
