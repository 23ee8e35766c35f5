"""Held-out predictions of naive Bayes of counts are those of refitting, whatever the route."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import naive_bayes
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

from discrim import BernoulliNB, ComplementNB, MultinomialNB, cross_validate, scan

MODELS = [
    MultinomialNB(),
    MultinomialNB(alpha=0.1, fit_prior=False),
    MultinomialNB(alpha=[0.5, 1.0, 2.0, 0.1, 3.0, 1.0], class_prior=[0.2, 0.5, 0.3]),
    MultinomialNB(class_alpha=2.0),
    BernoulliNB(),
    BernoulliNB(alpha=0.01, binarize=1.0),
    BernoulliNB(beta=([0.5, 1.0, 2.0, 0.1, 3.0, 1.0], 4.0)),
    ComplementNB(),
    ComplementNB(alpha=0.2, norm=True),
]


def rows(n=40, seed=0):
    rng = np.random.default_rng(seed)
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, n)]
    X = rng.poisson(np.where(y == "a", 1.5, 0.7)[:, None] * [0.2, 1.0, 0.5, 2.0, 0.0, 0.7])
    return X.astype(float), y, rng.integers(1, 9, n) / 4.0


def refitted(model, X, y, splits, weight=None):
    """Posteriors by fitting again without every fold; a class that is absent has none."""
    classes = np.unique(y)
    posterior = np.zeros((len(y), len(classes)))
    for train, test in splits:
        one = clone(model).fit(X[train], y[train], None if weight is None else weight[train])
        posterior[np.ix_(test, np.searchsorted(classes, one.classes_))] = one.predict_proba(X[test])
    return posterior


def leaving_one_out(n):
    return [(np.delete(np.arange(n), i), [i]) for i in range(n)]


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_leave_one_out_equals_refitting_without_each_row(model, weighted):
    X, y, w = rows()
    w = w if weighted else None
    found = cross_validate(model, sparse.csr_array(X), y, "loo", sample_weight=w)
    assert found.route == "closed form"
    assert_allclose(found.posterior, refitted(model, X, y, leaving_one_out(len(y)), w), rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("container", [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_folds_from_merged_statistics_equal_refitting(model, container):
    X, y, w = rows()
    splits = list(StratifiedKFold(4).split(X, y))
    found = cross_validate(model, container(X), y, 4, sample_weight=w)
    assert found.route == "statistics"
    assert_allclose(found.posterior, refitted(model, X, y, splits, w), rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("cv", ["loo", KFold(6)], ids=["loo", "folds"])
@pytest.mark.parametrize("model", [MultinomialNB(), BernoulliNB(), ComplementNB()], ids=str)
def test_a_class_whose_only_rows_are_held_out_has_no_posterior(model, cv):
    X, y, _ = rows(24)
    y = np.where(np.arange(24) == 3, "z", y)
    splits = leaving_one_out(24) if cv == "loo" else list(cv.split(X))
    found = cross_validate(model, X, y, cv)
    assert_allclose(found.posterior, refitted(model, X, y, splits), rtol=1e-10, atol=1e-14)
    assert found.posterior[3, -1] == 0


@pytest.mark.parametrize("model", [MultinomialNB, BernoulliNB, ComplementNB])
def test_without_smoothing_folds_still_equal_refitting(model):
    X, y, _ = rows()
    one = model(alpha=0.0)
    assert_allclose(
        cross_validate(one, X, y, 4).posterior, refitted(one, X, y, list(StratifiedKFold(4).split(X, y))), atol=1e-12
    )
    assert cross_validate(one, X, y, "loo").route == "statistics"


def test_folds_agree_with_scikit_learn():
    X, y, w = rows(60)
    splits = list(StratifiedKFold(5).split(X, y))
    peer = refitted(naive_bayes.MultinomialNB(alpha=0.3), X, y, splits, w)
    assert_allclose(cross_validate(MultinomialNB(alpha=0.3), X, y, 5, sample_weight=w).posterior, peer, rtol=1e-10)


def test_a_splitter_that_drops_rows_means_refitting():
    X, y, _ = rows()
    splits = [
        (np.arange(10, 40), np.arange(10)),
        (np.arange(20), np.arange(20, 40)),
        (np.arange(20, 40), np.arange(10, 20)),
    ]
    found = cross_validate(MultinomialNB(), X, y, splits)
    assert found.route == "refits"
    assert_allclose(found.posterior, refitted(MultinomialNB(), X, y, splits), rtol=1e-12)


@pytest.mark.parametrize(
    "model", [MultinomialNB(alpha="loo"), BernoulliNB(alpha="cv", cv=3, alphas=[0.1, 1.0])], ids=str
)
def test_a_model_that_chooses_alpha_chooses_it_again_in_every_fold(model):
    X, y, _ = rows()
    found = cross_validate(model, X, y, 4)
    assert found.route == "refits"
    assert_allclose(found.posterior, refitted(model, X, y, list(StratifiedKFold(4).split(X, y))), rtol=1e-10)


def test_the_rows_of_a_scan_give_the_same():
    pl = pytest.importorskip("polars")
    X, y, _ = rows()
    frame = pl.DataFrame({**{f"c{j}": X[:, j] for j in range(X.shape[1])}, "y": y})
    found = cross_validate(MultinomialNB(), scan(frame, target="y"), cv=4)
    expected = cross_validate(MultinomialNB(), X, y, 4)
    assert_allclose(found.posterior, expected.posterior, rtol=1e-12)
    assert_array_equal(found.predicted, expected.predicted)
