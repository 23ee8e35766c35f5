"""What models of categories and of mixed columns get from their recipes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import discrim
from discrim import CategoricalNB, MixedNB, OneVsOneClassifier, OneVsRestClassifier
from discrim.block import Block, Mixed, join
from discrim.decision.multiclass import scheme as shared
from discrim.evaluation import learning_curve, permutation_test
from discrim.families.recipe import Shape
from discrim.models.shell import recipe_of
from discrim.statistics import MixedOf

LIKELIHOODS = {"visits": "poisson", "age": "student-t"}
MODELS = [MixedNB(), MixedNB(alpha=0.5, likelihoods=LIKELIHOODS), CategoricalNB(), CategoricalNB(alpha="loo")]


def rows(n=90, seed=0):
    rng = np.random.default_rng(seed)
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, n)]
    place = np.searchsorted(["a", "b", "c"], y)
    town = np.array(["Bern", "Thun", "Wil", "Zug"])[rng.integers(0, 2 + place)]
    frame = pd.DataFrame({"age": rng.normal(place), "visits": rng.poisson(1 + place), "town": town})
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    return frame, y


def columns_for(model, frame):
    return frame[["visits", "town"]] if isinstance(model, CategoricalNB) else frame


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_estimator_adds_nothing_to_what_its_recipe_solves(model):
    frame, y = rows()
    fitted = clone(model).fit(columns_for(model, frame), y)
    solved = fitted.recipe().solve(fitted.statistic_, Shape(fitted.columns_, fitted.classes_))
    assert recipe_of(model).reads == "mixed"
    assert_array_equal(solved.attributes["class_log_prior_"], fitted.class_log_prior_)
    assert_array_equal(solved.rule.constant, fitted.solution().rule.constant)


@pytest.mark.parametrize("scheme", [OneVsRestClassifier, OneVsOneClassifier])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_problems_of_a_scheme_share_one_pass_and_are_those_fitted_apart(model, scheme, monkeypatch):
    frame, y = rows()
    X = columns_for(model, frame)
    together = scheme(clone(model)).fit(X, y)
    assert shared.shares(model)
    monkeypatch.setattr("discrim.decision.multiclass.scheme.shares", lambda _: False)
    apart = scheme(clone(model)).fit(X, y)
    assert_array_equal(together.predict(X), apart.predict(X))
    for one, other in zip(together.estimators_, apart.estimators_, strict=True):
        assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=1e-6)


def test_bins_of_all_classes_are_not_shared():
    frame, y = rows()
    model = MixedNB(likelihoods={"age": "kernel"})
    assert MixedOf(("age",), ("kernel",)).by_class() is None
    one = OneVsOneClassifier(model).fit(frame, y).estimators_[0]
    two = np.isin(y, ["a", "b"])
    alone = clone(model).fit(frame[two], y[two] == "b")
    assert_allclose(one.predict_proba(frame), alone.predict_proba(frame), rtol=1e-12)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_curves_and_permutations_come_from_statistics(model):
    frame, y = rows()
    X = columns_for(model, frame)
    found = learning_curve(model, X, y, sizes=[30, 60], cv=3)
    assert found.route == "statistics"
    assert np.isfinite(found.test_error).all()
    shuffled = permutation_test(model, X, y, cv=3, shuffles=5)
    assert shuffled.observed == discrim.cross_validate(model, X, y, 3).error


def test_mixed_columns_are_taken_and_joined_as_other_rows_are():
    levels = np.array(["u", "v"])
    x = Mixed(np.arange(6.0).reshape(3, 2), ((levels, np.array([0, 1, -1], np.int32)),))
    block = Block(x, np.array([0, 1, 1], np.int32), np.array(["a", "b"]), np.ones(3))
    assert block.x.shape == (3, 3)
    part = block.take(np.array([2, 1])).present()
    assert part.classes.tolist() == ["b"]
    assert part.x.levels[0][1].tolist() == [-1, 1]
    assert block.rows(1, 3).x.numbers.tolist() == [[2.0, 3.0], [4.0, 5.0]]
    other = Block(
        Mixed(np.zeros((1, 2)), ((np.array(["t"]), np.zeros(1, np.int32)),)), np.zeros(1, np.int32), np.array(["c"])
    )
    both = join([block, other])
    assert both.x.levels[0][0].tolist() == ["t", "u", "v"]
    assert both.x.levels[0][1].tolist() == [1, 2, -1, 0]
    assert both.classes.tolist() == ["a", "b", "c"]


def test_the_size_of_a_rule_counts_the_levels():
    frame, y = rows()
    model = CategoricalNB().fit(frame[["town"]], y)
    assert model.recipe().rule_size(model.solution()) == 2 * (1 + 3)
    mixed = MixedNB().fit(frame, y)
    assert mixed.recipe().rule_size(mixed.solution()) == 2 * (1 + 2 + 2 + 3)
