"""What models of counts get from their recipes: sharing, curves, merging, groups, and rows that stay sparse."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

import discrim
from discrim import BernoulliNB, ComplementNB, MultinomialNB, OneVsOneClassifier, OneVsRestClassifier, merge, scan
from discrim.block import Block
from discrim.decision.multiclass import scheme as shared
from discrim.errors import DataError, ParameterError
from discrim.evaluation import learning_curve, permutation_test
from discrim.families.counts.rule import LimitRule
from discrim.families.recipe import Shape
from discrim.models.shell import recipe_of
from discrim.sources import Design

MODELS = [
    MultinomialNB(),
    MultinomialNB(alpha=0),
    BernoulliNB(),
    BernoulliNB(binarize=1.0, methods="all"),
    BernoulliNB(alpha=0, methods="all"),
    ComplementNB(),
    ComplementNB(norm=True),
]


def rows(n=60, seed=3):
    rng = np.random.default_rng(seed)
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, n)]
    X = rng.poisson(np.where(y == "a", 1.5, 0.6)[:, None] * [0.3, 1.0, 0.5, 2.0, 0.2])
    return X.astype(float), y


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_estimator_adds_nothing_to_what_its_recipe_solves(model):
    X, y = rows()
    fitted = clone(model).fit(X, y)
    solved = fitted.recipe().solve(fitted.statistic_, Shape(Design.unnamed(5, float), fitted.classes_))
    for name, value in solved.attributes.items():
        assert_array_equal(getattr(fitted, name), value)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("scheme", [OneVsRestClassifier, OneVsOneClassifier])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_problems_of_a_scheme_share_one_pass_and_are_those_fitted_apart(model, scheme, container, monkeypatch):
    X, y = rows()
    X = container(X)
    together = scheme(clone(model)).fit(X, y)
    assert shared.shares(model)
    monkeypatch.setattr("discrim.decision.multiclass.scheme.shares", lambda _: False)
    apart = scheme(clone(model)).fit(X, y)
    assert_array_equal(together.predict(X), apart.predict(X))
    for one, other in zip(together.estimators_, apart.estimators_, strict=True):
        assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=1e-12)
    if hasattr(apart, "decision_function"):
        assert_allclose(together.decision_function(X), apart.decision_function(X), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("model", [MultinomialNB(alpha="loo"), BernoulliNB(tune_intercept=True)], ids=str)
def test_a_model_that_needs_its_rows_has_every_problem_fitted_by_itself(model):
    assert not shared.shares(model)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_learning_curve_only_adds_rows(model):
    X, y = rows()
    found = learning_curve(model, sparse.csr_array(X), y, sizes=[15, 40], cv=3)
    assert found.route == "statistics"
    assert np.isfinite(found.test_error).all()


def test_a_learning_curve_of_a_model_that_chooses_alpha_fits_it_again():
    X, y = rows()
    found = learning_curve(MultinomialNB(alpha="loo", alphas=[0.1, 1.0]), X, y, sizes=[20, 40], cv=3)
    assert found.route == "refits"
    assert np.isfinite(found.test_error).all()


def test_a_permutation_test_reads_sparse_rows():
    X, y = rows()
    found = permutation_test(MultinomialNB(), sparse.csr_array(X), y, cv=3, shuffles=9)
    assert found.observed == discrim.cross_validate(MultinomialNB(), X, y, 3).error


def test_merged_models_keep_the_alpha_that_both_chose():
    X, y = rows()
    parts = [MultinomialNB(alpha="loo", alphas=[0.7]).fit(X[i::2], y[i::2]) for i in range(2)]
    both = merge(*parts)
    assert both.alpha_ == 0.7
    assert_allclose(both.feature_log_prob_, MultinomialNB(alpha=0.7).fit(X, y).feature_log_prob_)
    other = MultinomialNB(alpha="loo", alphas=[0.7]).fit(X, y)
    with pytest.raises(DataError, match="They differ in 'alphas'"):
        merge(other, MultinomialNB(alpha="loo", alphas=[0.1]).fit(X, y))


def test_parts_after_a_fit_keep_its_alpha_and_what_it_tried():
    X, y = rows()
    model = MultinomialNB(alpha="loo").fit(X, y)
    chosen, tried = model.alpha_, model.alphas_
    model.partial_fit(X[:9], y[:9])
    assert model.alpha_ == chosen
    assert_array_equal(model.alphas_, tried)
    with pytest.raises(ParameterError, match="alpha='loo' needs the rows themselves"):
        MultinomialNB(alpha="loo").partial_fit(X, y)


def test_a_comparison_by_groups_chooses_alpha_by_groups():
    X, y = rows(120)
    groups = np.arange(120) // 6
    found = discrim.compare(X, y, {"chosen": MultinomialNB(alpha="loo")}, groups=groups)
    assert found.table.loc["chosen", "tuned"].startswith("alpha=")
    alone = discrim.compare(X, y, {"chosen": MultinomialNB(alpha="cv", alphas=[0.5])}, groups=groups)
    assert alone.table.loc["chosen", "tuned"] == "alpha=0.5"


@pytest.mark.parametrize("output", ["predict_proba", "predict_log_proba", "predict_joint_log_proba", "predict"])
@pytest.mark.parametrize("kind", [MultinomialNB, BernoulliNB, ComplementNB])
def test_without_smoothing_sparse_rows_are_scored_as_dense_ones(kind, output):
    X, y = rows()
    X[:, 4] = np.where(y == "a", X[:, 4] + 1, 0)
    model = kind(alpha=0).fit(X, y)
    assert isinstance(model.solution().rule, LimitRule)
    answers = [getattr(model, output)(made) for made in (X, sparse.csr_array(X))]
    if output == "predict":
        assert_array_equal(*answers)
    else:
        assert_allclose(*answers, rtol=1e-12)


def test_a_constant_is_tuned_block_by_block():
    X, y = rows()
    X, y = X[y != "c"], y[y != "c"]
    frame = pl.DataFrame({**{f"c{j}": X[:, j] for j in range(5)}, "y": y})
    whole = BernoulliNB(tune_intercept=True).fit(X, y)
    parts = BernoulliNB(tune_intercept=True).fit(scan(frame, target="y", batch_rows=7))
    assert_allclose(parts.intercept_, whole.intercept_)
    assert whole.score(X, y) >= BernoulliNB().fit(X, y).score(X, y)


def test_a_block_is_kept_as_a_model_reads_it():
    X, _ = rows()
    block = Block(X, np.zeros(60, np.int32), np.array([0]))
    thin = block.kept("sparse")
    assert sparse.issparse(thin.x)
    assert thin.kept("sparse") is thin
    assert_array_equal(thin.kept("dense").x, X)
    assert block.kept("dense") is block
    assert recipe_of(MultinomialNB()).reads == "sparse"


def test_a_negative_count_is_named_whatever_reads_it():
    X, y = rows()
    X[40, 3] = -1
    wanted = "Negative values in data passed to MultinomialNB .*column 'x3' is the first of 1"
    for call in (
        lambda: MultinomialNB().fit(X, y),
        lambda: discrim.cross_validate(MultinomialNB(), X, y, 3),
        lambda: learning_curve(MultinomialNB(), X, y, cv=3),
        lambda: OneVsRestClassifier(MultinomialNB()).fit(X, y),
    ):
        with pytest.raises(DataError, match=wanted):
            call()
