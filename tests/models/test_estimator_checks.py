"""Every model, with some of its settings, passes scikit-learn's checks of an estimator."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from discrim import (
    AROWClassifier,
    BayesianLinearDiscriminantAnalysis,
    BayesianQuadraticDiscriminantAnalysis,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    LogisticRegressionCV,
    MixedNB,
    MultinomialNB,
    NearestCentroid,
    OnePassLogisticRegression,
    PassiveAggressiveClassifier,
    Perceptron,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    RidgeClassifier,
    RosenblattPerceptron,
    SGDClassifier,
)

SEARCH = {"Cs": 3, "cv": 3, "scoring": "neg_log_loss", "use_legacy_attributes": False}

ESTIMATORS = [
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(solver="lsqr"),
    LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto"),
    LinearDiscriminantAnalysis(shrinkage=0.3, target="diagonal"),
    LinearDiscriminantAnalysis(shrinkage="oas", normalization="unbiased"),
    LinearDiscriminantAnalysis(shrinkage="nonlinear"),
    QuadraticDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(reg_param=0.1),
    QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=0.2),
    RegularizedDiscriminantAnalysis(),
    RegularizedDiscriminantAnalysis(0.0, 1.0),
    RegularizedDiscriminantAnalysis(0.3, 0.5, target="diagonal"),
    BayesianQuadraticDiscriminantAnalysis(),
    BayesianQuadraticDiscriminantAnalysis(2.0, 40, target="identity", class_prior_alpha=1.0),
    BayesianQuadraticDiscriminantAnalysis(nu="evidence"),
    BayesianLinearDiscriminantAnalysis(),
    BayesianLinearDiscriminantAnalysis(nu="evidence", target="identity"),
    LinearDiscriminantAnalysis(predict_method="predictive"),
    LinearDiscriminantAnalysis(predict_method="debiased"),
    GaussianNB(),
    GaussianNB(var_smoothing=1e-3, normalization="unbiased"),
    NearestCentroid(),
    NearestCentroid("manhattan", shrink_threshold=0.2),
    NearestCentroid(shrink_threshold=0.2, priors="empirical"),
    NearestCentroid(shrink_threshold=0.2, rule="pamr"),
    NearestCentroid(shrink_threshold="cv", cv=2),
    NearestCentroid(shrink_threshold="cv", cv=2, rule="pamr"),
    BernoulliNB(),
    BernoulliNB(beta=(0.5, 2.0), class_alpha=1.0),
    ComplementNB(),
    ComplementNB(norm=True),
    MultinomialNB(),
    MultinomialNB(alpha=0.0),
    CategoricalNB(),
    CategoricalNB(alpha="loo"),
    MixedNB(),
    MixedNB(likelihoods={0: "student-t"}, fit_prior=False),
    MixedNB(likelihoods={0: "kernel"}),
    MixedNB(likelihoods={0: "categorical"}),
    LeastSquaresClassifier(),
    LeastSquaresClassifier(basis="quadratic"),
    RidgeClassifier(),
    RidgeClassifier(alpha=0.0),
    RidgeClassifier(class_weight="balanced"),
    LogisticRegression(),
    LogisticRegression(C=np.inf),
    LogisticRegression(l1_ratio=1.0),
    LogisticRegression(l1_ratio=0.5, class_weight="balanced"),
    LogisticRegression(solver="quasi-newton"),
    LogisticRegression(fit_intercept=False),
    LogisticRegression(C=np.inf, bias_reduction="firth"),
    LogisticRegression(C=np.inf, aliased="minimum-norm"),
    LogisticRegressionCV(l1_ratios=(0,), **SEARCH),
    LogisticRegressionCV(l1_ratios=(0.5, 1), **SEARCH),
    LogisticRegressionCV(l1_ratios=(0,), refit=False, **SEARCH),
    SGDClassifier(),
    SGDClassifier(loss="log_loss", learning_rate="auto", average=True),
    OnePassLogisticRegression(),
    SGDClassifier(shuffle="blocks"),
    Perceptron(),
    Perceptron(multi_class="multinomial"),
    RosenblattPerceptron(),
    RosenblattPerceptron("batch"),
    RosenblattPerceptron("chicago", pocket=True),
    PassiveAggressiveClassifier(),
    AROWClassifier(),
]

TOO_FEW_DISTINCT = "two or three distinct rows a class have a singular covariance, for which LinAlgError is the answer"
MORE_COLUMNS = "nine rows a class of thirty columns have a singular covariance, for which LinAlgError is the answer"
SINGULAR_CLASSES = {
    "check_sample_weights_shape": TOO_FEW_DISTINCT,
    "check_sample_weights_not_overwritten": TOO_FEW_DISTINCT,
    "check_sample_weight_equivalence_on_dense_data": MORE_COLUMNS,
    "check_sample_weight_equivalence_on_sparse_data": MORE_COLUMNS,
}
WITHOUT_INTERCEPT = {
    "check_class_weight_classifiers": "class weights cannot draw all rows to one side of a plane through the origin"
}
ONE_LARGE_STEP = "a row that counts twice makes one large step, not two that follow each other"
IN_TURN = {
    "check_sample_weight_equivalence_on_dense_data": ONE_LARGE_STEP,
    "check_sample_weight_equivalence_on_sparse_data": ONE_LARGE_STEP,
}
COUNTED = {**IN_TURN, "check_class_weight_classifiers": "the pocket counts wrong rows, whatever they weigh"}
NEAR_THE_OPTIMUM = (
    "a block is solved to a part of a standard error; which part is left depends on the order of its rows"
)
NEARLY = {
    "check_sample_weight_equivalence_on_dense_data": NEAR_THE_OPTIMUM,
    "check_sample_weight_equivalence_on_sparse_data": NEAR_THE_OPTIMUM,
}
TWO_DISTANCES = {
    "check_classifiers_train": "as in scikit-learn, predict takes the columns' own units and the scores those of s_j"
}


def expected_failures(estimator):
    in_turn = isinstance(estimator, (SGDClassifier, Perceptron, PassiveAggressiveClassifier, AROWClassifier))
    if isinstance(estimator, OnePassLogisticRegression):
        return NEARLY
    if isinstance(estimator, RosenblattPerceptron) and estimator.pocket:
        return COUNTED
    if in_turn or (isinstance(estimator, RosenblattPerceptron) and estimator.rule != "batch"):
        return IN_TURN
    if isinstance(estimator, LogisticRegression) and not estimator.fit_intercept:
        return WITHOUT_INTERCEPT
    if isinstance(estimator, NearestCentroid) and (estimator.shrink_threshold, estimator.rule) == (
        "cv",
        "scikit-learn",
    ):
        return TWO_DISTANCES
    plain = isinstance(estimator, QuadraticDiscriminantAnalysis) and not (estimator.reg_param or estimator.shrinkage)
    return SINGULAR_CLASSES if plain else {}


# The checks use constant columns, few rows and classes that are far apart on purpose.
@pytest.mark.filterwarnings("ignore::discrim.errors.CollinearWarning")
@pytest.mark.filterwarnings("ignore::discrim.errors.SeparationWarning")
@pytest.mark.filterwarnings("ignore::discrim.errors.NotSeparatedWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_accepts(estimator, check):
    check(estimator)
