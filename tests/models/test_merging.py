"""Merging compares parameters by value, and says of models that cannot be merged why."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.covariance import OAS, LedoitWolf
from sklearn.linear_model import LogisticRegression as PeerLogistic
from sklearn.model_selection import KFold

from discrim import (
    BernoulliNB,
    CategoricalNB,
    GaussianNB,
    GradientDescentClassifier,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MultinomialNB,
    Perceptron,
    RidgeClassifier,
    SGDClassifier,
    merge,
)
from discrim.decision.multiclass import OneVsRestClassifier
from discrim.errors import DataError

RNG = np.random.default_rng(0)
X = RNG.integers(0, 4, size=(60, 1500)).astype(float)
Y = np.arange(60) % 3


def halves(kind, first, second):
    return kind(**first).fit(X[:30], Y[:30]), kind(**second).fit(X[30:], Y[30:])


def test_large_arrays_that_differ_in_their_middle_are_not_equal():
    alpha = np.full(1500, 0.5)
    other = alpha.copy()
    other[700] = 2.0
    assert str(alpha) == str(other)
    for kind in (MultinomialNB, BernoulliNB):
        with pytest.raises(DataError, match=r"one kind with equal parameters.*They differ in 'alpha'"):
            merge(*halves(kind, {"alpha": alpha}, {"alpha": other}))
        merged = merge(*halves(kind, {"alpha": alpha}, {"alpha": alpha.copy()}))
        assert_allclose(merged.feature_log_prob_, kind(alpha=alpha).fit(X, Y).feature_log_prob_)


def test_numbers_that_print_alike_are_not_equal():
    near = 0.1 + 1e-12
    values = [[0.2, 0.3, 0.5], [0.2, 0.3 + near - 0.1, 0.5 - near + 0.1]]
    with pytest.raises(DataError, match="differ in 'priors'"):
        merge(*(GaussianNB(priors=np.array(p)).fit(X[i::2, :4], Y[i::2]) for i, p in enumerate(values)))


@pytest.mark.parametrize(
    "same",
    [
        lambda: {"priors": [0.2, 0.3, 0.5]},
        lambda: {"priors": np.array([0.2, 0.3, 0.5])},
        lambda: {"priors": pd.Series([0.2, 0.3, 0.5])},
        lambda: {"cv": KFold(4, shuffle=True, random_state=1)},
        lambda: {"shrinkage": float("0.25"), "target": "diagonal"},
    ],
    ids=["list", "array", "series", "splitter", "number"],
)
def test_equal_values_in_other_objects_are_merged(same):
    parts = [LinearDiscriminantAnalysis(**same()).fit(X[i::2, :4], Y[i::2]) for i in range(2)]
    whole = LinearDiscriminantAnalysis(**same()).fit(X[:, :4], Y)
    assert_allclose(merge(*parts).predict_proba(X[:, :4]), whole.predict_proba(X[:, :4]), atol=1e-10)


def test_a_list_and_an_array_of_the_same_numbers_are_equal():
    parts = [GaussianNB(priors=p).fit(X[:, :4], Y) for p in ([0.2, 0.3, 0.5], np.array([0.2, 0.3, 0.5]))]
    assert merge(*parts).class_count_.sum() == 120


@pytest.mark.parametrize(
    ("first", "second", "name"),
    [
        ({"class_weight": {0: 1.0, 1: 2.0}}, {"class_weight": {0: 1.0, 1: 3.0}}, "class_weight"),
        ({"alpha": 1.0}, {"alpha": 2.0}, "alpha"),
        ({"priors": None}, {"priors": [0.2, 0.3, 0.5]}, "priors"),
        ({}, {"methods": "all"}, "methods"),
    ],
)
def test_the_parameter_that_differs_is_named(first, second, name):
    with pytest.raises(DataError, match=f"They differ in '{name}'"):
        merge(*halves(RidgeClassifier, first, second))


def test_estimators_inside_are_compared_by_their_kind_and_parameters():
    def fitted(estimator):
        model = LinearDiscriminantAnalysis(solver="lsqr", covariance_estimator=estimator)
        return model.fit(X[:, :4], Y)

    for other in (OAS(), LedoitWolf(block_size=10)):
        with pytest.raises(DataError, match="differ in 'covariance_estimator"):
            merge(fitted(LedoitWolf()), fitted(other))


def test_columns_in_another_order_are_refused_with_the_order_to_give():
    one, other = (pd.DataFrame(X[:, :3], columns=list(names)) for names in ("abc", "bca"))
    with pytest.raises(DataError, match=r"in another order.*features=\['a', 'b', 'c'\] of scan, or --features a,b,c"):
        merge(GaussianNB().fit(one, Y), GaussianNB().fit(other, Y))


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        GradientDescentClassifier(),
        PeerLogistic(),
        OneVsRestClassifier(LogisticRegression()),
        Perceptron(),
        SGDClassifier(),
    ],
    ids=str,
)
def test_models_that_are_no_sum_over_rows_say_that_they_cannot_be_merged(model):
    name = type(model).__name__
    for fitted in (False, True):
        parts = [model.fit(X[:, :4], Y), model] if fitted else [model, model]
        with pytest.raises(DataError, match=f"{name} cannot be merged: what it learns is not a sum") as caught:
            merge(*parts)
        assert ("partial_fit" in str(caught.value)) == hasattr(model, "partial_fit")
    with pytest.raises(DataError, match=f"{name} cannot be merged"):
        merge(LinearDiscriminantAnalysis().fit(X[:, :4], Y), model)


def test_a_model_that_is_not_fitted_still_says_so():
    fitted = CategoricalNB().fit(X[:, :4], Y)
    for parts in ((CategoricalNB(), fitted), (fitted, CategoricalNB())):
        with pytest.raises(AttributeError, match="not fitted yet"):
            merge(*parts)
