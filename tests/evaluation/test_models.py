"""Every model, every way to hold rows out: what comes out is what refitting gives."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, StratifiedKFold

from discrim import (
    BayesianLinearDiscriminantAnalysis,
    BayesianQuadraticDiscriminantAnalysis,
    GaussianNB,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    RidgeClassifier,
    cross_validate,
)

PRIORS = [0.2, 0.5, 0.3]
CLASS_WEIGHT = {"low": 2.0, "mid": 1.0, "top": 0.5}

CLOSED_FORM = {
    "lda": LinearDiscriminantAnalysis(),
    "lda lsqr": LinearDiscriminantAnalysis(solver="lsqr"),
    "lda priors": LinearDiscriminantAnalysis(priors=PRIORS),
    "lda unbiased": LinearDiscriminantAnalysis(normalization="unbiased"),
    "lda shrunk": LinearDiscriminantAnalysis(shrinkage=0.3),
    "lda shrunk fully": LinearDiscriminantAnalysis(shrinkage=1.0, priors=PRIORS, normalization="unbiased"),
    "qda": QuadraticDiscriminantAnalysis(),
    "qda unbiased": QuadraticDiscriminantAnalysis(priors=PRIORS, normalization="unbiased"),
    "qda shrunk": QuadraticDiscriminantAnalysis(shrinkage=0.4),
    "rda": RegularizedDiscriminantAnalysis(),
    "rda inside": RegularizedDiscriminantAnalysis(0.3, 0.6),
    "rda unbiased": RegularizedDiscriminantAnalysis(0.3, 0.6, priors=PRIORS, normalization="unbiased"),
    "rda corner qda": RegularizedDiscriminantAnalysis(1.0, 1.0),
    "rda corner lda": RegularizedDiscriminantAnalysis(0.0, 1.0),
    "rda spheres": RegularizedDiscriminantAnalysis(0.5, 0.0),
    "qda predictive": QuadraticDiscriminantAnalysis(predict_method="predictive"),
    "lda predictive": LinearDiscriminantAnalysis(predict_method="predictive", priors=PRIORS),
    "bayes qda": BayesianQuadraticDiscriminantAnalysis(2.0, target="identity"),
    "bayes qda dirichlet": BayesianQuadraticDiscriminantAnalysis(2.0, 5, target="identity", class_prior_alpha=2.5),
    "bayes qda geisser": BayesianQuadraticDiscriminantAnalysis(0, 0),
    "bayes qda diagonal": BayesianQuadraticDiscriminantAnalysis([1.0, 2.0, 3.0, 4.0], priors=PRIORS),
    "bayes lda": BayesianLinearDiscriminantAnalysis(2.0, target="identity"),
    "bayes lda matrix": BayesianLinearDiscriminantAnalysis(np.eye(4) + 0.5, class_prior_alpha=1.0),
    "bayes lda geisser": BayesianLinearDiscriminantAnalysis(0, 0, priors=PRIORS),
    "nb": GaussianNB(),
    "nb priors": GaussianNB(priors=PRIORS),
    "nb smooth": GaussianNB(var_smoothing=0.1),
    "nb by column": GaussianNB(smoothing="column"),
    "least squares": LeastSquaresClassifier(),
    "least squares quadratic": LeastSquaresClassifier(basis="quadratic"),
    "ridge": RidgeClassifier(methods="all"),
    "ridge weak": RidgeClassifier(alpha=0.01, methods="all"),
}
STATISTICS = {
    "lda eigen priors": LinearDiscriminantAnalysis(solver="eigen", priors=PRIORS),
    "lda rank": LinearDiscriminantAnalysis(rank=1),
    "lda diagonal": LinearDiscriminantAnalysis(shrinkage=0.3, target="diagonal"),
    "lda oas": LinearDiscriminantAnalysis(shrinkage="oas"),
    "lda nonlinear": LinearDiscriminantAnalysis(shrinkage="nonlinear"),
    "qda reg_param": QuadraticDiscriminantAnalysis(reg_param=0.1),
    "qda diagonal": QuadraticDiscriminantAnalysis(shrinkage=0.4, target="diagonal"),
    "rda diagonal": RegularizedDiscriminantAnalysis(0.3, 0.6, target="diagonal"),
    "qda debiased": QuadraticDiscriminantAnalysis(predict_method="debiased"),
    "lda debiased": LinearDiscriminantAnalysis(predict_method="debiased"),
    "bayes qda evidence": BayesianQuadraticDiscriminantAnalysis(),
    "bayes qda scaled": BayesianQuadraticDiscriminantAnalysis(2.0),
    "bayes lda both by evidence": BayesianLinearDiscriminantAnalysis(nu="evidence"),
    "nb unbiased": GaussianNB(normalization="unbiased"),
    "least squares priors": LeastSquaresClassifier(basis="quadratic", priors=PRIORS),
    "ridge balanced": RidgeClassifier(class_weight="balanced", methods="all"),
    "ridge class_weight": RidgeClassifier(class_weight=CLASS_WEIGHT, methods="all"),
    "ridge priors": RidgeClassifier(priors=PRIORS, methods="all"),
    "ridge no intercept": RidgeClassifier(fit_intercept=False, methods="all"),
    "ridge alphas": RidgeClassifier(alpha=[1.0, 2.0, 3.0], methods="all"),
}
REFITS = {
    "lda auto": LinearDiscriminantAnalysis(shrinkage="auto"),
    "lda tuned": LinearDiscriminantAnalysis(shrinkage="cv", cv=3),
    "qda tuned": QuadraticDiscriminantAnalysis(shrinkage="loo"),
    "bayes qda tuned": BayesianQuadraticDiscriminantAnalysis("loo"),
    "rda tuned": RegularizedDiscriminantAnalysis("cv", "cv", cv=3, alphas=[0.2, 0.8]),
}
SPLITTERS = {
    "five": 5,
    "KFold": KFold(7),
    "StratifiedKFold": StratifiedKFold(4, shuffle=True, random_state=0),
    "GroupKFold": GroupKFold(4),
}


def named(models):
    return [pytest.param(model, id=name) for name, model in models.items()]


# The rows of the folds are chosen before a model is seen: every model with one splitter, and one model of each kind of
# statistic with the others.
ONE_OF_EACH = ("lda", "qda", "rda inside", "bayes qda", "nb", "least squares quadratic", "ridge balanced")
FOLDS = [(name, "five") for name in CLOSED_FORM | STATISTICS]
FOLDS += [(name, splitter) for name in ONE_OF_EACH for splitter in SPLITTERS if splitter != "five"]


@pytest.mark.parametrize(("name", "splitter"), FOLDS)
def test_leaving_a_fold_out_equals_refitting_without_it(name, splitter, ordinary, brute_force, equals_refitting):
    model, cv = (CLOSED_FORM | STATISTICS)[name], SPLITTERS[splitter]
    x, y, _, groups = ordinary
    groups = groups if isinstance(cv, GroupKFold) else None
    result = cross_validate(model, x, y, cv, groups=groups)
    assert result.route == "statistics"
    equals_refitting(result, brute_force(model, x, y, cv, groups=groups))


@pytest.mark.parametrize("model", named(CLOSED_FORM | STATISTICS))
def test_weighted_folds_equal_weighted_refits(model, ordinary, brute_force, equals_refitting):
    x, y, weight, _ = ordinary
    result = cross_validate(model, x, y, 5, sample_weight=weight)
    assert result.route == "statistics"
    equals_refitting(result, brute_force(model, x, y, 5, sample_weight=weight))


@pytest.mark.parametrize("model", named(CLOSED_FORM))
def test_leave_one_out_in_closed_form_equals_refitting(model, fewer, brute_force, equals_refitting):
    x, y, _ = fewer
    expected = brute_force(model, x, y, "loo")
    for cv in ("loo", LeaveOneOut()):
        result = cross_validate(model, x, y, cv)
        assert result.route == "closed form"
        equals_refitting(result, expected)


@pytest.mark.parametrize("model", named(STATISTICS))
def test_leave_one_out_without_a_closed_form_merges_statistics(model, fewer, brute_force, equals_refitting):
    x, y, _ = fewer
    result = cross_validate(model, x, y, "loo")
    assert result.route == "statistics"
    equals_refitting(result, brute_force(model, x, y, "loo"))


@pytest.mark.parametrize("name", ["lda", "qda", "rda inside", "nb", "least squares", "ridge"])
def test_weighted_leave_one_out_equals_refitting(name, fewer, brute_force, equals_refitting):
    x, y, weight = fewer
    model = CLOSED_FORM[name]
    result = cross_validate(model, x, y, "loo", sample_weight=weight)
    equals_refitting(result, brute_force(model, x, y, "loo", sample_weight=weight))


@pytest.mark.parametrize("model", named(REFITS))
def test_models_that_need_the_rows_are_refitted(model, ordinary, brute_force, equals_refitting):
    x, y, weight, _ = ordinary
    result = cross_validate(model, x, y, 4)
    assert result.route == "refits"
    equals_refitting(result, brute_force(model, x, y, 4))
    if "loo" not in [model.get_params().get(name) for name in ("shrinkage", "alpha", "psi")]:
        weighted = cross_validate(model, x, y, 4, sample_weight=weight)
        equals_refitting(weighted, brute_force(model, x, y, 4, sample_weight=weight))


@pytest.mark.parametrize("cv", [KFold(60), KFold(60, shuffle=True, random_state=3)])
def test_as_many_folds_as_rows_are_leave_one_out(cv, ordinary, brute_force, equals_refitting):
    x, y, _, _ = ordinary
    model = LinearDiscriminantAnalysis()
    result = cross_validate(model, x, y, cv)
    assert result.route == "closed form"
    equals_refitting(result, brute_force(model, x, y, "loo"))
    assert sorted(result.folds) == list(range(60))


def test_figures_are_weighted_means_over_the_rows(ordinary, brute_force):
    x, y, weight, _ = ordinary
    model = QuadraticDiscriminantAnalysis()
    result = cross_validate(model, x, y, 5, sample_weight=weight)
    posterior, predicted = brute_force(model, x, y, 5, sample_weight=weight)
    own = posterior[np.arange(len(y)), np.searchsorted(result.classes, y)]
    assert result.error == pytest.approx(weight @ (predicted != y) / weight.sum())
    assert result.log_loss == pytest.approx(-weight @ np.log(own) / weight.sum())
    np.testing.assert_array_equal(result.classes, ["low", "mid", "top"])
    assert "5 folds" in repr(result)
    assert "by statistics" in repr(result)


def test_folds_are_those_of_the_splitter(ordinary):
    x, y, _, _ = ordinary
    splitter = StratifiedKFold(4, shuffle=True, random_state=1)
    result = cross_validate(GaussianNB(), x, y, splitter)
    for f, (_, test) in enumerate(splitter.split(x, y)):
        np.testing.assert_array_equal(np.flatnonzero(result.folds == f), test)


def test_a_splitter_that_trains_on_fewer_rows_is_followed(ordinary, brute_force, equals_refitting):
    class Purged:
        """Five blocks in order, and the row after each block in neither part."""

        def split(self, X, y=None, groups=None):
            for test in np.array_split(np.arange(60), 5):
                yield np.setdiff1d(np.arange(60), np.append(test, test[-1] + 1)), test

        def get_n_splits(self, X=None, y=None, groups=None):
            return 5

    x, y, _, _ = ordinary
    model = LinearDiscriminantAnalysis()
    result = cross_validate(model, x, y, Purged())
    assert result.route == "refits"
    equals_refitting(result, brute_force(model, x, y, Purged()))


def test_the_model_that_is_tried_stays_as_it_was(ordinary):
    x, y, _, _ = ordinary
    model = RegularizedDiscriminantAnalysis(0.3, 0.6, priors=PRIORS).fit(x, y)
    before = model.predict_proba(x)
    cross_validate(model, x, y, 5)
    cross_validate(model, x, y, "loo")
    np.testing.assert_array_equal(model.predict_proba(x), before)
    assert model.priors == PRIORS


def test_ordinary_data_raise_no_warning(ordinary):
    x, y, _, _ = ordinary
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model in CLOSED_FORM.values():
            cross_validate(model, x, y, 5)
            cross_validate(model, x, y, "loo")
