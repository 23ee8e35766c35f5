"""Fitting in parts, forgetting and merging are exact: the model depends on the rows, not on how they came."""

import warnings
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from discrim import (
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
from discrim.errors import DataError, ForgetError, ParameterError

ROUNDING = 1e-12
PARTS = {
    "two": lambda y: np.array_split(np.arange(len(y)), 2),
    "seven": lambda y: np.array_split(np.arange(len(y)), 7),
    "ten rows one by one": lambda y: np.split(np.arange(len(y)), range(1, 11)),
    "class by class": lambda y: [np.flatnonzero(y == k) for k in np.unique(y)],
    "uneven": lambda y: [np.arange(1), np.arange(1, len(y) - 2), np.arange(len(y) - 2, len(y))],
}


def some(rows, i):
    X, y, weight = rows
    return X[i], y[i], weight[i]


def in_parts(model, rows, parts, weighted):
    for i in parts:
        X, y, weight = some(rows, i)
        model.partial_fit(X, y, sample_weight=weight if weighted else None)
    return model


def whole(model, rows, weighted):
    X, y, weight = rows
    return clone(model).fit(X, y, weight if weighted else None)


@pytest.mark.parametrize(
    ("parts", "weighted"),
    # How statistics of any parts merge, weighted or not, is a law of the statistic (tests/laws); what a model adds is
    # the solution from the merged one, and from the first parts, which may have one row or one class.
    [("two", False), ("two", True), ("ten rows one by one", True), ("class by class", True)],
)
def test_any_number_of_parts_is_one_fit(model, rows, parts, weighted, gap):
    expected = whole(model, rows, weighted)
    found = in_parts(model, rows, PARTS[parts](rows[1]), weighted)
    assert_array_equal(found.classes_, expected.classes_)
    assert gap(found, expected, rows[0]) < ROUNDING * (50 if "reg_param" in str(model) else 1)


# Weights enter the statistic alone, whatever is subtracted: each amount is tried with or without them.
@pytest.mark.parametrize(
    ("gone", "weighted"),
    [(slice(0, 1), True), (slice(None, None, 3), False), (slice(5, None, 2), True)],
    ids=["one weighted", "third", "half weighted"],
)
def test_forgetting_is_never_having_seen(model, rows, gone, weighted, gap):
    X, y, weight = some(rows, gone)
    kept = np.setdiff1d(np.arange(len(rows[1])), np.arange(len(rows[1]))[gone])
    found = whole(model, rows, weighted).forget(X, y, weight if weighted else None)
    assert gap(found, whole(model, some(rows, kept), weighted), rows[0]) < 1e-10


def test_forgetting_a_whole_class_is_never_having_met_it(model, rows, gap):
    if getattr(model, "priors", None) is not None:
        model.set_params(priors=None)
    X, y, _ = rows
    found = whole(model, rows, weighted=False).forget(X[y == 1], y[y == 1])
    assert_array_equal(found.classes_, [0, 2])
    assert gap(found, clone(model).fit(X[y != 1], y[y != 1]), X) < 1e-10


def test_what_was_forgotten_can_be_learned_again(model, rows, gap):
    X, y, weight = some(rows, slice(0, 5))
    expected = whole(model, rows, weighted=True)
    found = whole(model, rows, weighted=True).forget(X, y, weight).partial_fit(X, y, sample_weight=weight)
    assert gap(found, expected, rows[0]) < 1e-10


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_merged_models_are_one_fit_of_all_rows(model, rows, weighted, gap):
    X, y, _ = rows
    thirds = [np.sort(np.argsort(y, kind="stable")[i::3]) for i in range(3)]  # all classes at each site
    sites = [whole(model, some(rows, i), weighted) for i in thirds]
    assert gap(merge(*sites), whole(model, rows, weighted), X) < ROUNDING * 50


def test_a_model_from_its_statistic_is_the_model(model, rows):
    fitted = whole(model, rows, weighted=True)
    again = type(model).from_statistic(fitted.statistic_, **model.get_params())
    assert_array_equal(again.predict_proba(rows[0]), fitted.predict_proba(rows[0]))
    stored = type(fitted.statistic_).from_bytes(fitted.statistic_.to_bytes())
    again = type(model).from_statistic(stored, **model.get_params())
    assert_array_equal(again.predict_proba(rows[0]), fitted.predict_proba(rows[0]))


class TestTwoClasses:
    """Two classes are remembered one by one, more of them pooled; neither shows."""

    X, y = np.random.default_rng(1).normal(size=(40, 3)), np.arange(40) % 2

    @pytest.mark.parametrize(
        "kind",
        [
            LinearDiscriminantAnalysis,
            QuadraticDiscriminantAnalysis,
            RegularizedDiscriminantAnalysis,
            BayesianQuadraticDiscriminantAnalysis,
            BayesianLinearDiscriminantAnalysis,
            partial(GaussianNB, methods="all"),
            LeastSquaresClassifier,
            partial(RidgeClassifier, methods="all"),
        ],
    )
    def test_rows_of_one_class_can_be_forgotten(self, kind, gap):
        gone = np.flatnonzero(self.y == 0)[:5]
        kept = np.setdiff1d(np.arange(40), gone)
        found = kind().fit(self.X, self.y).forget(self.X[gone], self.y[gone])
        assert gap(found, kind().fit(self.X[kept], self.y[kept]), self.X) < 1e-11

    @pytest.mark.parametrize("columns", [1, 3])
    @pytest.mark.parametrize("parts", PARTS)
    def test_fishers_threshold_does_not_depend_on_the_parts(self, parts, columns):
        X = self.X[:, :columns]
        model = LinearDiscriminantAnalysis()
        for i in PARTS[parts](self.y):
            model.partial_fit(X[i], self.y[i])
        expected = LinearDiscriminantAnalysis().fit(X, self.y).fisher()
        assert_allclose(model.fisher().threshold, expected.threshold, rtol=1e-10)
        assert_allclose(model.fisher().variances, expected.variances, rtol=1e-10)

    def test_a_third_class_that_comes_later(self, gap):
        y = np.where(np.arange(40) < 30, self.y, 2)
        model = LinearDiscriminantAnalysis().fit(self.X[:30], y[:30])
        model.partial_fit(self.X[30:], y[30:])
        assert gap(model, LinearDiscriminantAnalysis().fit(self.X, y), self.X) < ROUNDING


def test_a_class_that_only_the_declaration_knows_is_never_predicted(model, long_rows):
    X, y, _ = long_rows
    if getattr(model, "priors", None) is not None:
        model.set_params(priors=None)
    declared = clone(model).partial_fit(X, y, classes=[0, 1, 2, 9])
    expected = clone(model).fit(X, y)
    assert_array_equal(declared.classes_, [0, 1, 2, 9])
    assert_allclose(declared.predict_proba(X), np.c_[expected.predict_proba(X), np.zeros(60)], rtol=1e-9, atol=1e-12)
    assert_array_equal(declared.predict(X), expected.predict(X))


def test_too_little_for_a_model_is_kept_and_told_when_asked():
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2
    model = QuadraticDiscriminantAnalysis().partial_fit(X[:1], y[:1])
    with pytest.raises(DataError, match="The number of classes has to be greater than one"):
        model.predict(X)
    model.partial_fit(X[1:], y[1:])
    assert_allclose(model.predict_proba(X), QuadraticDiscriminantAnalysis().fit(X, y).predict_proba(X), rtol=1e-12)


def test_priors_wait_for_all_their_classes():
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.repeat([0, 1, 2], 10)
    model = LinearDiscriminantAnalysis(priors=[0.2, 0.3, 0.5]).partial_fit(X[:10], y[:10])
    with pytest.raises(ParameterError, match="3 priors are given for 1 classes"):
        model.predict_proba(X)
    model.partial_fit(X[10:], y[10:])
    expected = LinearDiscriminantAnalysis(priors=[0.2, 0.3, 0.5]).fit(X, y)
    assert_allclose(model.predict_proba(X), expected.predict_proba(X), rtol=1e-12)


class TestRefusals:
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 3

    def test_rows_that_were_never_there(self, model):
        model.fit(self.X, self.y)
        before = model.predict_proba(self.X)
        for X, y in ((self.X[:1] + 100, self.y[:1]), (self.X[:1], [7]), (np.vstack([self.X] * 2), [0] * 60)):
            with pytest.raises(ForgetError, match="Cannot forget"):
                model.forget(X, y)
        assert_array_equal(model.predict_proba(self.X), before)

    def test_all_rows(self, model):
        model.fit(self.X, self.y)
        with pytest.raises(DataError, match="Cannot forget every row the model has seen"):
            model.forget(self.X, self.y)
        assert model.predict(self.X).shape == (30,)

    def test_forgetting_before_learning(self, model):
        with pytest.raises(AttributeError, match="not fitted yet"):
            model.forget(self.X, self.y)

    def test_a_bad_part_changes_nothing(self, model):
        model.fit(self.X, self.y)
        before = model.predict_proba(self.X)
        bad = self.X.copy()
        bad[0, 1] = np.nan
        with pytest.raises(DataError, match="column 'x1' has 1 NaN"):
            model.partial_fit(bad, self.y)
        with pytest.raises(ValueError, match="2 features"):
            model.partial_fit(self.X[:, :2], self.y)
        with pytest.raises(DataError, match="cannot be put in one order"):
            model.partial_fit(self.X[:3], ["a", "b", "c"])
        assert_array_equal(model.predict_proba(self.X), before)

    def test_merging_what_does_not_belong_together(self):
        lda = LinearDiscriminantAnalysis().fit(self.X, self.y)
        with pytest.raises(DataError, match="one kind with equal parameters"):
            merge(lda, LinearDiscriminantAnalysis(shrinkage=0.1).fit(self.X, self.y))
        with pytest.raises(DataError, match="one kind with equal parameters"):
            merge(lda, GaussianNB().fit(self.X, self.y))
        with pytest.raises(DataError, match="different columns"):
            merge(lda, LinearDiscriminantAnalysis().fit(self.X[:, :2], self.y))
        with pytest.raises(AttributeError, match="not fitted yet"):
            merge(lda, LinearDiscriminantAnalysis())

    def test_a_statistic_of_another_depth(self):
        naive = GaussianNB().fit(self.X, self.y)
        with pytest.raises(DataError, match="needs a statistic of depth 'full'; this one has depth 'diagonal'"):
            QuadraticDiscriminantAnalysis.from_statistic(naive.statistic_)

    def test_several_labels_have_only_fit(self):
        labels = np.random.default_rng(0).integers(0, 2, size=(30, 3))
        model = RidgeClassifier().fit(self.X, labels)
        for call in (model.partial_fit, model.forget):
            with pytest.raises(DataError, match="With several labels only fit"):
                call(self.X[:3], self.y[:3] * 0)
        with pytest.raises(DataError, match="several labels cannot be merged"):
            merge(model, model)


def test_a_fit_that_fails_leaves_the_old_model(model):
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 3
    before = model.fit(X, y).decision_function(X)
    bad = X[:, :2].copy()
    bad[0, 0] = np.inf
    with pytest.raises(DataError, match="column 'x0' has 1 infinite"):
        model.fit(bad, y)
    assert_array_equal(model.decision_function(X), before)
    assert model.n_features_in_ == 3


def test_a_new_fit_forgets_the_old_one(model, long_rows):
    X, y, _ = long_rows
    expected = clone(model).fit(X, y).predict_proba(X)
    other = np.random.default_rng(5).normal(size=(40, 6))
    assert_array_equal(model.fit(other, np.arange(40) % 3).fit(X, y).predict_proba(X), expected)


def test_attributes_of_an_earlier_setting_do_not_survive():
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 2
    for kind in (LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis):
        model = kind(shrinkage="cv", cv=3).fit(X, y)
        assert hasattr(model, "cv_results_")
        model.set_params(shrinkage=None).fit(X, y)
        assert not hasattr(model, "cv_results_")
        assert not hasattr(model, "shrinkage_")
    rda = RegularizedDiscriminantAnalysis("cv", "cv", cv=3).fit(X, y).set_params(alpha=0.5, gamma=0.5).fit(X, y)
    assert not hasattr(rda, "cv_results_")
    assert (rda.alpha_, rda.gamma_) == (0.5, 0.5)


@pytest.mark.parametrize(
    "chosen",
    [
        LinearDiscriminantAnalysis(shrinkage="cv", cv=3),
        QuadraticDiscriminantAnalysis(shrinkage="cv", cv=3),
        RegularizedDiscriminantAnalysis("cv", "cv", cv=3),
    ],
    ids=str,
)
def test_more_rows_keep_the_shrinkage_that_a_fit_has_chosen(chosen):
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    model = clone(chosen).fit(X[:40], y[:40])
    setting = (
        {"alpha": model.alpha_, "gamma": model.gamma_} if hasattr(model, "alpha_") else {"shrinkage": model.shrinkage_}
    )
    model.partial_fit(X[40:], y[40:])
    expected = clone(chosen).set_params(**setting).fit(X, y)
    assert_allclose(model.predict_proba(X), expected.predict_proba(X), rtol=1e-11)
    with pytest.raises(DataError, match="need"):
        clone(chosen).partial_fit(X, y).predict(X)


def test_ledoit_and_wolf_need_all_rows_and_say_so():
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LinearDiscriminantAnalysis(shrinkage="auto").partial_fit(X, y)
        with pytest.raises(DataError, match="reads the rows twice"):
            model.predict(X)
