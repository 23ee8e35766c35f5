"""Rows that were never learned cannot be forgotten: the error names the class and the column, and nothing changes."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from discrim import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    LinearDiscriminantAnalysis,
    MixedNB,
    MultinomialNB,
    QuadraticDiscriminantAnalysis,
)
from discrim.errors import ForgetError

Y = np.array(["no"] * 4 + ["yes"] * 4)
# In the class 'no' the first column is never 1, the second always, the third once 0.
BITS = np.array([[0, 1, 0], [0, 1, 1], [0, 1, 1], [0, 1, 1], [1, 0, 0], [1, 1, 1], [0, 1, 1], [1, 0, 1]], dtype=float)
COUNTS = np.array([[3, 0, 1], [2, 0, 0], [0, 0, 5], [1, 0, 1], [1, 2, 0], [0, 4, 1], [2, 2, 2], [1, 1, 1]], dtype=float)


def assert_refused(model, gone, labels, words, **more):
    X = BITS[:, : np.shape(gone)[1]]
    before = model.predict_proba(X)
    statistic = model.statistic_
    with pytest.raises(ForgetError, match=words):
        model.forget(gone, labels, **more)
    assert model.statistic_ is statistic
    assert_array_equal(model.predict_proba(X), before)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.csc_matrix, pd.DataFrame])
@pytest.mark.parametrize(
    ("row", "column"),
    [([1, 1, 1], r"Column '\w*0' was counted 0 times there; they have 1"), ([0, 0, 1], "Column .*1' was 0 in rows of")],
)
def test_bernoulli_rows_that_were_never_seen_are_refused_by_their_column(make, row, column):
    model = BernoulliNB().fit(make(BITS), Y)
    before = model.predict_proba(make(BITS))
    with pytest.raises(ForgetError, match=f"1 row .* of class 'no': they are not among the rows.*{column}"):
        model.forget(make(np.array([row], dtype=float)), ["no"])
    assert_array_equal(model.predict_proba(make(BITS)), before)


def test_a_zero_is_forgotten_as_often_as_it_was_seen_and_no_oftener():
    model = BernoulliNB().fit(BITS, Y)
    row = [[0.0, 1.0, 0.0]]
    assert_refused(model, row * 2, ["no", "no"], "Column 'x2' was 0 in rows of weight 1 there; they have more")
    model.forget(row, ["no"])
    assert_refused(model, row, ["no"], "Column 'x2'")
    fresh = BernoulliNB().fit(BITS[1:], Y[1:])
    assert_allclose(model.predict_proba(BITS), fresh.predict_proba(BITS), rtol=1e-12)


def test_weighted_indicators_are_refused_by_their_weight():
    weight = np.arange(1.0, 9.0)
    model = BernoulliNB().fit(BITS, Y, weight)
    assert_refused(model, BITS[:1], ["no"], "Column 'x2' was 0 in rows of weight 1", sample_weight=[1.5])
    model.forget(BITS[2:4], Y[2:4], weight[2:4])
    kept = [0, 1, 4, 5, 6, 7]
    fresh = BernoulliNB().fit(BITS[kept], Y[kept], weight[kept])
    assert_allclose(model.predict_proba(BITS), fresh.predict_proba(BITS), rtol=1e-12)


@pytest.mark.parametrize("kind", [MultinomialNB, ComplementNB])
def test_counts_that_were_never_seen_are_refused_by_their_column(kind):
    model = kind().fit(COUNTS, Y)
    assert_refused(model, [[1.0, 1.0, 0.0]], ["no"], "class 'no'.*Column 'x1' was counted 0 times there; they have 1")
    assert_refused(model, [[7.0, 0.0, 0.0]], ["no"], "Column 'x0' was counted 6 times there; they have 7")
    assert_refused(model, COUNTS[:1], ["never"], "rows of class 'never': the statistic has no such class")


def test_levels_that_were_never_seen_are_refused_by_their_column():
    model = CategoricalNB().fit(COUNTS, Y)
    assert_refused(model, [[3.0, 1.0, 1.0]], ["no"], r"class 'no'.*Column 'x1' had the level '1.0' 0 times there")


def test_a_missing_level_cannot_be_forgotten_where_none_was_missing():
    table = pd.DataFrame({"size": list("abab") * 2, "n": COUNTS[:, 0]})
    model = MixedNB().fit(table, Y)
    with pytest.raises(ForgetError, match="class 'no'"):
        model.forget(pd.DataFrame({"size": [None], "n": [COUNTS[0, 0]]}), ["no"])
    with pytest.raises(ForgetError, match="Column 'size' had the level 'z' 0 times there; they have 1"):
        model.forget(pd.DataFrame({"size": ["z"], "n": [COUNTS[0, 0]]}), ["no"])


@pytest.mark.parametrize("likelihood", ["poisson", "gamma-poisson"])
def test_counts_of_mixed_columns_cannot_be_left_with_a_negative_mean(likelihood):
    X = np.array([[5.0], [0.0], [0.0], [0.0], [1.0], [2.0], [3.0], [4.0]])
    model = MixedNB(likelihoods={0: likelihood}).fit(X, Y)
    assert_refused(model, [[3.0], [3.0]], ["no", "no"], "class 'no'.*Column 'x0' would be left with the mean -0.5")


def test_more_rows_or_weight_than_a_class_has_are_refused():
    for model in (GaussianNB().fit(COUNTS, Y), BernoulliNB().fit(BITS, Y)):
        X = COUNTS if isinstance(model, GaussianNB) else BITS
        assert_refused(model, np.repeat(X[1:2], 5, axis=0), ["no"] * 5, "Cannot forget 5 rows .* of class 'no'")
        assert_refused(model, X[1:2], ["no"], "of class 'no'", sample_weight=[9.0])


@pytest.mark.parametrize("kind", [GaussianNB, LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, MixedNB])
def test_the_error_names_the_column_that_has_lost_its_digits(kind):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 2)), columns=["height", "weight"])
    y = np.arange(200) % 2
    X.loc[7, "weight"] = 1e12
    model = kind().fit(X, y)
    with pytest.raises(ForgetError, match="column 'weight'"):
        model.forget(X[7:8], y[7:8])
