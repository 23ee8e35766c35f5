"""Ridge with several labels a row, and what two-class schemes ask of the models by regression."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from discrim import LassoClassifier, LeastSquaresClassifier, RidgeClassifier, compare
from discrim.errors import DataError
from discrim.families.rule import DiagonalRule, LinearRule
from discrim.models.shell import recipe_of

KINDS = [LeastSquaresClassifier(), RidgeClassifier(methods="all"), LassoClassifier(0.05)]


@pytest.fixture
def labelled():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 4))
    varied = (x @ rng.normal(size=(4, 3)) + rng.normal(size=(60, 3)) > 0).astype(int)
    return x, np.column_stack([varied, np.ones(60, int), np.zeros(60, int)])


def test_every_label_has_a_model_of_its_own(labelled):
    x, labels = labelled
    model = RidgeClassifier(2.0, methods="all").fit(x, labels)
    for k in range(3):
        alone = RidgeClassifier(2.0, methods="all").fit(x, labels[:, k])
        assert_allclose(model.decision_function(x)[:, k], alone.decision_function(x), atol=1e-12)
        assert_allclose(model.predict_proba(x)[:, k], alone.predict_proba(x)[:, 1], atol=1e-12)
        assert_array_equal(model.predict(x)[:, k], alone.predict(x))
        assert_allclose(model.coef_[k], alone.coef_)
    assert_array_equal(model.predict_proba(x)[:, 3:], np.tile([1.0, 0.0], (60, 1)))
    assert_array_equal(model.predict(x)[:, 3:], np.tile([1, 0], (60, 1)))


def test_several_labels_leave_no_trace_in_the_next_fit(labelled):
    x, labels = labelled
    model = RidgeClassifier(methods="all").fit(x, labels).fit(x, labels[:, 0])
    again = pickle.loads(pickle.dumps(model)).partial_fit(x[:5], labels[:5, 0])
    assert again.predict(x).ndim == 1
    assert vars(model).keys() == vars(RidgeClassifier(methods="all").fit(x, labels[:, 0])).keys()


def test_a_fit_of_several_labels_that_fails_changes_nothing(labelled):
    x, labels = labelled
    model = RidgeClassifier().fit(x, labels[:, 0])
    before = dict(vars(model))
    with pytest.raises(DataError, match="not zeros and ones"):
        model.fit(x, labels + np.arange(5))
    with pytest.raises(DataError, match="NaN"):
        model.fit(np.full_like(x, np.nan), labels)
    assert vars(model) == before


@pytest.mark.parametrize("model", KINDS, ids=str)
def test_scores_of_two_classes_are_weighed_as_the_decision_function_says(model, labelled):
    x, labels = labelled
    fitted = model.fit(x, labels[:, 0])
    rule = fitted.solution().rule
    joint = rule.joined([rule, rule], fitted.margin_weights)
    assert_allclose(joint.scores(x), np.tile(fitted.decision_function(x)[:, None], 2), atol=1e-12)
    odds = rule.joined([rule], (-1.0, 1.0)).scores(x)[:, 0]
    posterior = fitted.predict_proba(x)
    assert_allclose(odds, np.log(posterior[:, 1] / posterior[:, 0]), atol=1e-9)


@pytest.mark.parametrize("model", KINDS, ids=str)
def test_a_class_that_never_occurred_has_no_share(model, labelled):
    x, labels = labelled
    fitted = model.partial_fit(x, labels[:, 0], classes=[0, 1, 2])
    assert_array_equal(fitted.predict_proba(x)[:, 2], np.zeros(60))
    assert np.isneginf(fitted.decision_function(x)[:, 2]).all()
    assert_array_equal(fitted.predict(x), fitted.decision_function(x).argmax(axis=1))
    rule = fitted.solution().rule
    assert rule.joined([rule], (-1.0, 1.0)) is None


def test_rules_that_are_not_alike_are_not_joined():
    one = LinearRule(np.eye(2), np.zeros(2), np.zeros(2))
    words = LinearRule(np.eye(2), np.zeros(2), np.zeros(2), threshold=0.0)
    assert one.joined([one, words], (-1.0, 1.0)) is None
    assert words.joined([words, words], (-1.0, 1.0)).threshold == 0.0
    diagonal = DiagonalRule(np.eye(2), np.ones((2, 2)), np.zeros(2))
    assert diagonal.joined([diagonal], (-1.0, 1.0)) is None
    assert one.joined([one, diagonal], (-1.0, 1.0)) is None


def test_what_is_regularised_and_how_large_the_rule_is(labelled):
    x, labels = labelled
    for model, held_back in (*((m, True) for m in KINDS[1:]), (KINDS[0], False), (RidgeClassifier(0.0), False)):
        fitted = model.fit(x, labels[:, 0])
        recipe = recipe_of(fitted)
        assert recipe.regularised(fitted.solution()) is held_back
        assert recipe.rule_size(fitted.solution()) == np.count_nonzero(np.atleast_2d(fitted.coef_)[-1]) + 1


def test_a_comparison_tunes_both_penalties_by_their_recipes(labelled):
    x, labels = labelled
    found = compare(x, labels[:, 0], ["Ridge", "Lasso"], cv=4)
    assert all(row.done for row in found.rows if row.name in {"Ridge", "Lasso"})
    assert {name for name in ("Ridge", "Lasso") if found[name].route == "statistics"} == {"Ridge", "Lasso"}


def test_many_classes_make_no_matrix_of_classes_by_classes():
    x, y = np.random.default_rng(0).normal(size=(4_000, 3)), np.arange(4_000) % 2_000
    RidgeClassifier().fit(x, y)
    tracemalloc.start()
    RidgeClassifier().fit(x, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.25 * 8 * 2_000**2
