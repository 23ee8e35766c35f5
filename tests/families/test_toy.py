"""What a model gets that says nothing but what its recipe is: the toy of ``toy.py``."""

from __future__ import annotations

import importlib.util
import pickle
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.utils.estimator_checks import parametrize_with_checks

import discrim
from discrim.errors import DataError, ForgetError, ParameterError
from discrim.evaluation import learning_curve, permutation_test
from discrim.models.shell import recipe_of

HOME = Path(__file__).parent / "toy.py"
_spec = importlib.util.spec_from_file_location("toy_recipe", HOME)
toy = sys.modules["toy_recipe"] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(toy)
BallClassifier = toy.BallClassifier

X, y = discrim.datasets.load_iris().xy


def brute_force(x, labels, rows, size):
    """Log posteriors up to a constant, from the definition."""
    classes = np.unique(labels)
    scores = [
        np.log(np.mean(labels == k)) - np.square(rows - x[labels == k].mean(axis=0)).sum(axis=1) / (2 * size)
        for k in classes
    ]
    return classes, np.stack(scores, axis=1)


def posterior(scores):
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def test_the_toy_is_written_in_less_than_80_lines():
    assert len(HOME.read_text(encoding="utf-8").splitlines()) < 80


@parametrize_with_checks([BallClassifier()])
def test_scikit_learn_accepts(estimator, check):
    check(estimator)


def test_it_is_the_model_that_its_definition_says():
    model = BallClassifier(0.3).fit(X, y)
    classes, scores = brute_force(X, y, X, 0.3)
    assert_allclose(model.predict_proba(X), posterior(scores), atol=1e-12)
    assert model.predict(X).tolist() == classes[scores.argmax(axis=1)].tolist()
    assert "Balls" in str(model.summary())


def test_parts_forgetting_merging_and_statistics():
    whole = BallClassifier(0.3).fit(X, y)
    parts = BallClassifier(0.3)
    for start in range(0, 150, 40):
        parts.partial_fit(X[start : start + 40], y[start : start + 40])
    assert_allclose(parts.centres_, whole.centres_, rtol=1e-12)
    parts.partial_fit(X[:10] + 5, y[:10]).forget(X[:10] + 5, y[:10])
    assert_allclose(parts.centres_, whole.centres_, rtol=1e-10)
    both = discrim.merge(BallClassifier(0.3).fit(X[::2], y[::2]), BallClassifier(0.3).fit(X[1::2], y[1::2]))
    assert_allclose(both.predict_proba(X), whole.predict_proba(X), atol=1e-12)
    again = BallClassifier.from_statistic(whole.statistic_, size=0.3)
    assert_allclose(again.predict_proba(X), whole.predict_proba(X))
    with pytest.raises(ForgetError):
        whole.forget(X + 1e6, y)


@pytest.mark.parametrize("cv", [5, "loo"])
def test_cross_validation_from_statistics_is_that_of_refitting(cv):
    found = discrim.cross_validate(BallClassifier(0.3), X, y, cv=cv)
    assert found.route == "statistics"
    for f in np.unique(found.folds):
        out = found.folds == f
        assert_allclose(found.posterior[out], posterior(brute_force(X[~out], y[~out], X[out], 0.3)[1]), atol=1e-10)


def test_settings_are_chosen_over_folds_and_kept_by_parts():
    model = BallClassifier("cv").fit(X, y)
    errors = [
        (cross_val_predict(BallClassifier(size), X, y, cv=StratifiedKFold(4)) != y).mean()
        for size in model.cv_results_["sizes"]
    ]
    assert_allclose(model.cv_results_["mean_error"], errors, atol=1e-12)
    chosen = model.size_
    assert chosen == model.cv_results_["size"]
    assert model.partial_fit(X[:20], y[:20]).size_ == chosen
    with pytest.raises(DataError, match="needs the rows themselves"):
        BallClassifier("cv").partial_fit(X, y).predict(X)


def test_learning_curves_and_permutation_tests():
    curve = learning_curve(BallClassifier(0.3), X, y, sizes=[30, 100], cv=5)
    assert curve.route == "statistics"
    assert np.isfinite(curve.test_error).all()
    assert permutation_test(BallClassifier(0.3), X, y, shuffles=19, cv=3).p_value == pytest.approx(0.05)


@pytest.mark.parametrize("scheme", [discrim.OneVsRestClassifier, discrim.OneVsOneClassifier])
def test_the_problems_of_a_scheme_share_one_statistic(scheme):
    together = scheme(BallClassifier(0.3)).fit(X, y)

    class Apart(BallClassifier):
        def fit(self, X, y=None, sample_weight=None):
            return super().fit(X, y, sample_weight)

    assert recipe_of(Apart()) is None
    apart = scheme(Apart(0.3)).fit(X, y)
    assert together.predict(X).tolist() == apart.predict(X).tolist()
    for one, other in zip(together.estimators_, apart.estimators_, strict=True):
        assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-10)


def test_compare_tunes_it_inside_the_folds(own_registry):
    with pytest.raises(ParameterError, match="Balls"):
        discrim.compare(X, y, ["Balls"])
    own_registry.enter(toy.ENTRY)
    found = discrim.compare(X, y, ["Balls", "LDA"])
    assert discrim.compare(X, y).table.loc["Balls", "error"] == found.table.loc["Balls", "error"]
    assert found.table.loc["Balls", "error"] < 0.15


def test_files_weights_and_copies(tmp_path):
    frame = pl.DataFrame(X, schema=["a", "b", "c", "d"]).with_columns(pl.Series("kind", y))
    frame.write_parquet(tmp_path / "rows.parquet")
    whole = BallClassifier(0.3).fit(X, y)
    scanned = BallClassifier(0.3).fit(discrim.scan(tmp_path / "rows.parquet", target="kind"))
    assert_allclose(scanned.centres_, whole.centres_, rtol=1e-12)
    twice = np.r_[0:150, 0:30]
    weighted = BallClassifier(0.3).fit(X, y, np.where(np.arange(150) < 30, 2.0, 1.0))
    assert_allclose(weighted.predict_proba(X), BallClassifier(0.3).fit(X[twice], y[twice]).predict_proba(X), atol=1e-12)
    copied = pickle.loads(pickle.dumps(whole))
    assert_allclose(copied.predict_proba(X), whole.predict_proba(X))
    assert clone(whole).size == 0.3


def test_a_fit_that_fails_leaves_the_model_as_it_was():
    model = BallClassifier(0.3).fit(X, y)
    before = dict(model.__dict__)
    spoilt = X.copy()
    spoilt[3, 1] = np.nan
    with pytest.raises(DataError, match="x1"):
        model.fit(spoilt, y)
    with pytest.raises(ParameterError, match="size"):
        model.set_params(size=-1.0).fit(X, y)
    assert {**model.__dict__, "size": 0.3} == before


@pytest.mark.parametrize("name", ["fit", "predict", "predict_proba", "decision_function"])
def test_a_subclass_with_an_answer_of_its_own_has_no_recipe_unless_it_says_so(name):
    own = type("Own", (BallClassifier,), {name: lambda self, *args, **kwargs: None})
    assert recipe_of(own()) is None
    again = type("Again", (own,), {"recipe": BallClassifier.recipe})
    assert recipe_of(again()) is not None
