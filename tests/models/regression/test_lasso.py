"""The lasso classifier against scikit-learn's Lasso on each indicator, and its life as a one-pass model."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Lasso, LassoCV
from sklearn.model_selection import StratifiedKFold

import discrim
from discrim import LassoClassifier, LeastSquaresClassifier, cross_validate
from discrim.errors import DataError, ParameterError, UnfinishedWarning

pytestmark = pytest.mark.every_version


@pytest.fixture(scope="module")
def three():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=240)
    x = rng.normal(size=(240, 8)) + 1.2 * np.eye(3, 8)[y]
    return x * np.geomspace(0.01, 100, 8) + 5.0, np.array(["a", "b", "c"])[y]


@pytest.fixture(scope="module")
def wide():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(60, 600))
    return x, (x[:, 0] + x[:, 1] + 0.3 * rng.normal(size=60) > 0).astype(int)


def peer(x, y, label, alpha, **options):
    return Lasso(alpha, tol=1e-13, max_iter=100_000, **options).fit(x, np.where(y == label, 1.0, -1.0))


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.3, 0.05, 0.001])
def test_each_class_is_the_lasso_of_its_indicator(alpha, intercept, three):
    # Columns far from zero and no intercept are more than scikit-learn's descent brings to an end.
    x, y = three[0] - 5.0 * (not intercept), three[1]
    model = LassoClassifier(alpha, fit_intercept=intercept).fit(x, y)
    for k, label in enumerate(model.classes_):
        lasso = peer(x, y, label, alpha, fit_intercept=intercept)
        np.testing.assert_allclose(model.coef_[k], lasso.coef_, rtol=1e-8, atol=1e-8)
        assert model.intercept_[k] == pytest.approx(lasso.intercept_, abs=1e-8)
        assert ((model.coef_[k] == 0) == (lasso.coef_ == 0)).all()


@pytest.mark.parametrize("alpha", [0.3, 0.05])
def test_more_columns_than_rows(alpha, wide):
    x, y = wide
    model = LassoClassifier(alpha).fit(x, y)
    lasso = peer(x, y, 1, alpha)
    np.testing.assert_allclose(model.coef_[0], lasso.coef_, atol=1e-8)
    np.testing.assert_allclose(model.decision_function(x), lasso.predict(x), atol=1e-8)


def test_weights_count_as_in_the_lasso(three):
    x, y = three
    weight = np.random.default_rng(2).uniform(0, 3, size=len(x))
    model = LassoClassifier(0.05).fit(x, y, sample_weight=weight)
    lasso = Lasso(0.05, tol=1e-14, max_iter=100_000).fit(x, np.where(y == "b", 1.0, -1.0), sample_weight=weight)
    np.testing.assert_allclose(model.coef_[1], lasso.coef_, rtol=1e-8, atol=1e-8)


def test_without_a_penalty_it_is_least_squares(three):
    x, y = three
    model = LassoClassifier(0.0).fit(x, y)
    np.testing.assert_allclose(model.coef_, 2 * LeastSquaresClassifier().fit(x, y).coef_, rtol=1e-8)
    assert (model.predict(x) == LeastSquaresClassifier().fit(x, y).predict(x)).all()


def test_beyond_the_largest_covariance_nothing_is_left(three):
    model = LassoClassifier(1e6).fit(*three)
    assert (model.coef_ == 0).all()
    assert set(model.predict(three[0])) == {max(set(three[1]), key=list(three[1]).count)}


def test_the_path_holds_the_fits(three):
    x, y = three
    model = LassoClassifier(0.05).fit(x, y)
    path = model.path_
    assert path.coef.shape == (100, 3, 8)
    assert (path.coef[0] == 0).all()
    for i in (30, 80):
        alone = LassoClassifier(path.alphas[i]).fit(x, y)
        np.testing.assert_allclose(path.coef[i], alone.coef_, rtol=1e-7, atol=1e-10)
        np.testing.assert_allclose(path.intercept[i], alone.intercept_, rtol=1e-7)
    assert model.path_ is path
    assert model.fit(x, y).path_ is not path


@pytest.mark.parametrize("shape", ["long", "wide"])
def test_folds_have_the_errors_of_lasso_cv(shape, three, wide):
    x, y = wide if shape == "wide" else (three[0], (three[1] == "c").astype(int))
    folds = StratifiedKFold(4)
    model = LassoClassifier("cv", cv=folds).fit(x, y)
    target, splits = 2.0 * y - 1, list(folds.split(x, y))
    np.testing.assert_allclose(model.cv_results_["alphas"], LassoCV(cv=splits, tol=0.1).fit(x, target).alphas_)
    # The last alphas take scikit-learn very long where there are more columns than rows.
    alphas = model.cv_results_["alphas"][: 50 if shape == "wide" else 100]
    lasso = LassoCV(alphas=alphas, cv=splits, tol=1e-10, max_iter=100_000).fit(x, target)
    np.testing.assert_allclose(model.cv_results_["squared_error"][: len(alphas)], lasso.mse_path_, rtol=1e-6)
    assert model.alpha_ == pytest.approx(lasso.alpha_)


def test_held_out_errors_from_statistics_are_those_of_predictions(three):
    x, y = three
    folds = StratifiedKFold(5)
    model = LassoClassifier("cv", cv=folds).fit(x, y)
    i = 60
    for f, (train, test) in enumerate(folds.split(x, y)):
        alone = LassoClassifier(model.cv_results_["alphas"][i]).fit(x[train], y[train])
        target = np.where(y[test][:, None] == alone.classes_, 1.0, -1.0)
        error = ((target - alone.decision_function(x[test])) ** 2).sum(axis=1).mean()
        assert model.cv_results_["squared_error"][i, f] == pytest.approx(error, rel=1e-9)


def test_parts_merging_and_forgetting_are_one_fit(three):
    x, y = three
    whole = LassoClassifier(0.05).fit(x, y)
    parts = LassoClassifier(0.05).partial_fit(x[:100], y[:100]).partial_fit(x[100:], y[100:])
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-8, atol=1e-12)
    left = LassoClassifier(0.05).fit(x, y).forget(x[200:], y[200:])
    np.testing.assert_allclose(left.coef_, LassoClassifier(0.05).fit(x[:200], y[:200]).coef_, rtol=1e-7, atol=1e-12)
    sites = [LassoClassifier(0.05).fit(x[::2], y[::2]), LassoClassifier(0.05).fit(x[1::2], y[1::2])]
    np.testing.assert_allclose(discrim.merge(*sites).coef_, whole.coef_, rtol=1e-8, atol=1e-12)


def test_a_chosen_strength_is_kept_when_rows_are_forgotten_and_needs_rows_at_first(three):
    x, y = three
    model = LassoClassifier("cv").fit(x, y)
    chosen = model.alpha_
    model.forget(x[:20], y[:20])
    assert model.alpha_ == chosen
    streamed = LassoClassifier("cv").partial_fit(x, y)
    with pytest.raises(DataError, match="'cv' needs the rows themselves: use fit first, or give numbers"):
        streamed.predict(x)


def test_cross_validation_by_statistics_is_that_by_refitting(three, wide):
    x, y = three
    result = cross_validate(LassoClassifier(0.05), x, y, cv=5)
    assert result.route == "statistics"
    for train, test in StratifiedKFold(5).split(x, y):
        np.testing.assert_allclose(
            result.posterior[test], LassoClassifier(0.05).fit(x[train], y[train]).predict_proba(x[test]), atol=1e-9
        )
    # A rotation of the columns would not leave this penalty as it is.
    assert cross_validate(LassoClassifier(0.1), *wide, cv=3).route == "refits"


def test_a_scan_gives_the_same(three, tmp_path):
    x, y = three
    pd.DataFrame(x, columns=[f"c{j}" for j in range(8)]).assign(y=y).to_parquet(tmp_path / "rows.parquet")
    rows = discrim.scan(tmp_path / "rows.parquet", target="y")
    for alpha in (0.05, "cv"):
        model = LassoClassifier(alpha).fit(rows)
        np.testing.assert_allclose(model.coef_, LassoClassifier(alpha).fit(x, y).coef_, rtol=1e-8, atol=1e-12)


def test_priors_make_classes_count_otherwise(three):
    x, y = three
    model = LassoClassifier(0.05, priors=[0.2, 0.3, 0.5]).fit(x, y)
    weight = np.select(
        [y == "a", y == "b"], [0.2 / (y == "a").mean(), 0.3 / (y == "b").mean()], 0.5 / (y == "c").mean()
    )
    same = LassoClassifier(0.05).fit(x, y, sample_weight=weight)
    np.testing.assert_allclose(model.coef_, same.coef_, rtol=1e-8, atol=1e-12)


def test_constant_columns_and_repeated_ones_are_no_trouble(three):
    x, y = three
    model = LassoClassifier(0.05).fit(np.column_stack([x, np.full(len(x), 7.0), x[:, 0]]), y)
    assert (model.coef_[:, 8] == 0).all()
    plain = LassoClassifier(0.05).fit(x, y)
    np.testing.assert_allclose(model.coef_[:, 0] + model.coef_[:, 9], plain.coef_[:, 0], rtol=1e-6, atol=1e-10)


def test_a_penalty_below_rounding_warns_and_leaves_a_sound_model():
    rng = np.random.default_rng(0)
    x = (rng.normal(size=(60, 12)) @ rng.normal(size=(12, 200)) + 1e-6 * rng.normal(size=(60, 200))) * np.geomspace(
        1e-21, 1e9, 200
    )
    y = (x[:, 5] > np.median(x[:, 5])).astype(int)
    with pytest.warns(UnfinishedWarning, match="The coefficients are those of a larger alpha"):
        model = LassoClassifier(1e-30).fit(x, y)
    assert model.score(x, y) > 0.9
    assert np.abs(model.decision_function(x)).max() < 3


def test_bad_input_is_named(three):
    x, y = three
    with pytest.raises(ParameterError, match=r"The 'alpha' parameter is -1; it must be a finite number of at least 0"):
        LassoClassifier(-1).fit(x, y)
    with pytest.raises(ParameterError, match="it must be a finite number of at least 0 or one of 'cv'"):
        LassoClassifier("loo").fit(x, y)
    broken = pd.DataFrame(x, columns=[f"c{j}" for j in range(8)])
    broken.loc[3, "c2"] = np.inf
    with pytest.raises(DataError, match="column 'c2' has 1 infinite"):
        LassoClassifier().fit(broken, y)


def test_pickles_predict_and_summaries_print(three):
    x, y = three
    model = LassoClassifier(0.05).fit(x, y)
    assert (pickle.loads(pickle.dumps(model)).predict(x) == model.predict(x)).all()
    summary = model.summary()
    assert "Columns used:" in str(summary)
    np.testing.assert_allclose(summary.coef[1:], model.coef_.T)
