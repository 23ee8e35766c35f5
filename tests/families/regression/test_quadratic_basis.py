"""Recipes on squares and products: the same as on columns that somebody expanded beforehand."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from discrim import LeastSquaresClassifier, cross_validate, merge
from discrim.block import Block
from discrim.families.recipe import Shape, Turned
from discrim.families.regression import quadratic_basis
from discrim.families.regression.quadratic_basis import ExpandedOf, QuadraticBasisRecipe, expand, expanded_names
from discrim.statistics import Depth, FactorsOf, MomentsOf

QUADRATIC = LeastSquaresClassifier(basis="quadratic")


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    return rng.normal(size=(90, 3)) + rng.normal(size=(3, 3))[y], y


def test_columns_and_their_names_come_in_one_order():
    assert_allclose(expand(np.array([[2.0, 3.0]])), [[2, 3, 4, 6, 9]])
    assert expanded_names(["a", "b"]) == ["a", "b", "a^2", "a:b", "b^2"]


def test_the_model_is_that_of_expanded_columns(rows):
    x, y = rows
    found, plain = QUADRATIC.fit(x, y), LeastSquaresClassifier().fit(expand(x), y)
    assert_allclose(found.coef_, plain.coef_, rtol=1e-9, atol=1e-12)
    for method in ("decision_function", "predict_proba", "predict_log_proba"):
        assert_allclose(getattr(found, method)(x), getattr(plain, method)(expand(x)), rtol=1e-9, atol=1e-12)
    assert found.n_features_in_ == 3
    assert found.summary().names == ["(Intercept)", *expanded_names(["x0", "x1", "x2"])]


@pytest.mark.parametrize("cv", [5, "loo"])
def test_folds_are_those_of_expanded_columns(rows, cv):
    x, y = rows
    found = cross_validate(QUADRATIC, x, y, cv=cv)
    plain = cross_validate(LeastSquaresClassifier(), expand(x), y, cv=cv)
    assert found.route == plain.route
    assert_allclose(found.posterior, plain.posterior, atol=1e-9)


def test_columns_that_only_become_more_than_the_rows_by_expansion(rows):
    x, y = rows[0][:8], rows[1][:8]
    found, plain = QUADRATIC.fit(x, y), LeastSquaresClassifier().fit(expand(x), y)
    assert type(found.statistic_).__name__ == "ClassFactors"
    assert_allclose(found.decision_function(x), plain.decision_function(expand(x)), atol=1e-9)


def test_parts_merging_and_forgetting_are_one_fit(rows):
    x, y = rows
    whole = LeastSquaresClassifier(basis="quadratic").fit(x, y)
    halves = [LeastSquaresClassifier(basis="quadratic").fit(x[i::2], y[i::2]) for i in (0, 1)]
    assert_allclose(merge(*halves).coef_, whole.coef_, rtol=1e-8, atol=1e-10)
    more = LeastSquaresClassifier(basis="quadratic").fit(x[:60], y[:60]).partial_fit(x[60:], y[60:])
    assert_allclose(more.coef_, whole.coef_, rtol=1e-8, atol=1e-10)
    assert_allclose(more.forget(x[60:], y[60:]).coef_, QUADRATIC.fit(x[:60], y[:60]).coef_, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("kind", [MomentsOf, FactorsOf])
def test_many_rows_are_expanded_in_pieces(rows, kind, monkeypatch):
    x, y = rows
    block = Block(x, y.astype(np.int32), np.arange(3))
    whole = ExpandedOf(kind(Depth.POOLED)).of(block)
    monkeypatch.setattr(quadratic_basis, "ROWS", 7)
    pieces = ExpandedOf(kind(Depth.POOLED)).of(block)
    assert_allclose(pieces.mean, whole.mean, atol=1e-12)
    assert_allclose(pieces.squares, whole.squares, rtol=1e-10)


def test_reductions_cover_those_of_the_same_basis_alone():
    full, pooled = MomentsOf(Depth.FULL), MomentsOf(Depth.POOLED)
    assert ExpandedOf(full).covers(ExpandedOf(pooled))
    assert not ExpandedOf(full).covers(pooled)
    assert not full.covers(ExpandedOf(pooled))
    assert ExpandedOf(pooled).by_class() == ExpandedOf(full)
    assert ExpandedOf(pooled).numbers(Shape(Turned(3))) == 81


def test_sparse_rows_are_expanded_too(rows):
    x, y = rows
    x = np.where(np.abs(x) < 1, 0.0, x)
    found = LeastSquaresClassifier(basis="quadratic").fit(sparse.csr_array(x), y)
    assert_allclose(found.predict_proba(sparse.csr_array(x)), QUADRATIC.fit(x, y).predict_proba(x), atol=1e-9)


def test_what_is_asked_of_the_recipe_is_what_the_inner_one_says(rows):
    x, y = rows
    model = QUADRATIC.fit(x, y)
    recipe, solved = model.recipe(), model.solution()
    assert isinstance(recipe, QuadraticBasisRecipe)
    assert recipe.rule_size(solved) == 2 * (9 + 1)
    assert not recipe.regularised(solved)
    narrower = QuadraticBasisRecipe(priors=[0.2, 0.3, 0.5]).among(np.array([0, 2]), 3)
    assert_allclose(narrower.priors, [2 / 7, 5 / 7])
