"""Every model passes scikit-learn's checks of an estimator; its settings pass those that depend on them."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from discrim import (
    AROWClassifier,
    BayesianLinearDiscriminantAnalysis,
    BayesianQuadraticDiscriminantAnalysis,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    GradientDescentClassifier,
    LassoClassifier,
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
    QuadraticDiscriminantAnalysis(),
    RegularizedDiscriminantAnalysis(),
    BayesianQuadraticDiscriminantAnalysis(),
    BayesianLinearDiscriminantAnalysis(),
    GaussianNB(),
    NearestCentroid(),
    BernoulliNB(),
    ComplementNB(),
    MultinomialNB(),
    CategoricalNB(),
    MixedNB(),
    LeastSquaresClassifier(),
    RidgeClassifier(),
    LogisticRegression(),
    SGDClassifier(),
    OnePassLogisticRegression(),
    Perceptron(),
    # Classes that overlap take all epochs, and the checks see no more in a thousand of them than in twenty.
    RosenblattPerceptron(max_iter=20),
    PassiveAggressiveClassifier(),
    AROWClassifier(),
    GradientDescentClassifier(),
    LassoClassifier(),
    LogisticRegressionCV(l1_ratios=(0,), **SEARCH),
]

SETTINGS = [
    LinearDiscriminantAnalysis(solver="lsqr"),
    LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto"),
    LinearDiscriminantAnalysis(shrinkage=0.3, target="diagonal"),
    LinearDiscriminantAnalysis(shrinkage="oas", normalization="unbiased"),
    LinearDiscriminantAnalysis(shrinkage="nonlinear"),
    QuadraticDiscriminantAnalysis(reg_param=0.1),
    QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=0.2),
    RegularizedDiscriminantAnalysis(0.0, 1.0),
    RegularizedDiscriminantAnalysis(0.3, 0.5, target="diagonal"),
    BayesianQuadraticDiscriminantAnalysis(2.0, 40, target="identity", class_prior_alpha=1.0),
    BayesianQuadraticDiscriminantAnalysis(nu="evidence"),
    BayesianLinearDiscriminantAnalysis(nu="evidence", target="identity"),
    LinearDiscriminantAnalysis(predict_method="predictive"),
    LinearDiscriminantAnalysis(predict_method="debiased"),
    GaussianNB(var_smoothing=1e-3, normalization="unbiased"),
    NearestCentroid("manhattan", shrink_threshold=0.2),
    NearestCentroid(shrink_threshold=0.2, priors="empirical"),
    NearestCentroid(shrink_threshold=0.2, rule="pamr"),
    NearestCentroid(shrink_threshold="cv", cv=2),
    NearestCentroid(shrink_threshold="cv", cv=2, rule="pamr"),
    BernoulliNB(beta=(0.5, 2.0), class_alpha=1.0),
    ComplementNB(norm=True),
    MultinomialNB(alpha=0.0),
    CategoricalNB(alpha="loo"),
    MixedNB(likelihoods={0: "student-t"}, fit_prior=False),
    MixedNB(likelihoods={0: "kernel"}),
    MixedNB(likelihoods={0: "categorical"}),
    LeastSquaresClassifier(basis="quadratic"),
    RidgeClassifier(alpha=0.0),
    RidgeClassifier(class_weight="balanced"),
    LogisticRegression(C=np.inf),
    LogisticRegression(l1_ratio=1.0),
    LogisticRegression(l1_ratio=0.5, class_weight="balanced"),
    LogisticRegression(solver="quasi-newton"),
    LogisticRegression(fit_intercept=False),
    LogisticRegression(C=np.inf, bias_reduction="firth"),
    LogisticRegression(C=np.inf, aliased="minimum-norm"),
    LogisticRegressionCV(l1_ratios=(0.5, 1), **SEARCH),
    LogisticRegressionCV(l1_ratios=(0,), refit=False, **SEARCH),
    SGDClassifier(loss="log_loss", learning_rate="auto", average=True),
    SGDClassifier(shuffle="blocks"),
    Perceptron(multi_class="multinomial"),
    RosenblattPerceptron("batch", max_iter=100),
    RosenblattPerceptron("chicago", pocket=True, max_iter=20),
    GradientDescentClassifier("squared", l2=0.1, momentum=0.5),
    GradientDescentClassifier("hinge", max_iter=200),
    GradientDescentClassifier("log", l2=0.1, multi_class="ovr", tol=1e-12),
    GradientDescentClassifier(l1=0.05, tol=1e-12),
    GradientDescentClassifier("modified_huber", l2=0.1, tol=1e-12, fit_intercept=False),
    GradientDescentClassifier(batch_size=8, max_iter=20, random_state=0),
    GradientDescentClassifier("perceptron", normalize_weights=True, normalize_rows=True, max_iter=200),
    LassoClassifier(alpha=0.1, fit_intercept=False),
    LassoClassifier(alpha="cv", cv=3),
]

# The other checks look at the class, at tags, at messages for bad input, or at containers, whatever the parameters.
DEPEND_ON_SETTINGS = {
    "check_class_weight_classifiers",
    "check_classifiers_classes",
    "check_classifiers_one_label",
    "check_classifiers_train",
    "check_decision_proba_consistency",
    "check_estimator_sparse_array",
    "check_estimators_dtypes",
    "check_estimators_pickle",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_fit_idempotent",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_non_transformer_estimators_n_iter",
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
    "check_transformer_general",
}

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
    if isinstance(estimator, GradientDescentClassifier):
        return IN_TURN if estimator.batch_size else {}
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


def checks_of_settings():
    for setting in SETTINGS:
        checks = estimator_checks_generator(setting, expected_failed_checks=expected_failures(setting), mark="xfail")
        for each in checks:
            estimator, check = getattr(each, "values", each)
            name = check.func.__name__
            # Arguments ask for another container or precision, of which the same is true.
            if name in DEPEND_ON_SETTINGS and not check.keywords:
                yield pytest.param(estimator, check, id=f"{estimator}-{name}", marks=getattr(each, "marks", ()))


# The checks use constant columns, few rows and classes that are far apart on purpose.
on_purpose = pytest.mark.filterwarnings(
    "ignore::discrim.errors.CollinearWarning",
    "ignore::discrim.errors.SeparationWarning",
    "ignore::discrim.errors.NotSeparatedWarning",
    "ignore::discrim.errors.UnfinishedWarning",
)


@on_purpose
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_accepts(estimator, check):
    check(estimator)


@on_purpose
@pytest.mark.parametrize(("estimator", "check"), list(checks_of_settings()))
def test_scikit_learn_accepts_the_setting(estimator, check):
    check(estimator)
